// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.BackendStatus;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.TimeSource;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Decides on a running client: from keys to checks, from checks to flights, and who waits for how long. */
final class RedisStore implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** Makes the script read Redis's clock. */
    static final TimeSource REDIS_CLOCK = () -> 0;

    private final RedisClient redis;
    private final Duration deadline;
    private final StoredKeys keys;
    private final Flights flights;
    private final Deadlines deadlines;

    /** Of those whose late answer is an answer. */
    private final Deadlines patient;

    private final GiveBacks giveBacks;
    private final Breaker breaker;

    /** None for a clock that is not Redis's, since it goes by the time that has passed here. */
    private final @Nullable RefusalMemory memory;

    RedisStore(
            RedisClient redis,
            String namespace,
            Duration deadline,
            TimeSource time,
            BackendListener listener,
            Breaker breaker) {
        startTimer();
        this.breaker = breaker;
        this.redis = redis;
        this.deadline = deadline;
        this.keys = StoredKeys.of(namespace);
        this.flights = new Flights(
                flight -> redis.run(Script.ACQUIRE, flight.keys(), flight.argument(time.micros())), listener, breaker);
        this.deadlines = new Deadlines(deadline, this::late);
        this.patient = new Deadlines(deadline, flights::giveUp);
        this.memory = time == REDIS_CLOCK ? new RefusalMemory() : null;
        this.giveBacks = new GiveBacks(redis, keys, time, deadline, memory);
    }

    /**
     * Starts the thread that the platform times futures with, which outlives every application, under a class loader that does so
     * too: it keeps the one it was first used under.
     */
    private static void startTimer() {
        Thread current = Thread.currentThread();
        ClassLoader ofApplication = current.getContextClassLoader();
        try {
            current.setContextClassLoader(ClassLoader.getPlatformClassLoader());
            new CompletableFuture<>().completeOnTimeout(null, 1, TimeUnit.NANOSECONDS);
        } finally {
            current.setContextClassLoader(ofApplication);
        }
    }

    Decision acquire(List<Charge> charges) {
        List<String> named = keys.of(charges);
        boolean shadow = hasShadow(charges);
        Decision remembered = shadow ? null : remembered(charges, named);
        if (remembered != null) {
            return remembered;
        }
        long until = deadlineFromNow();
        firstAttempt(until);
        try {
            if (!breaker.passOrProbe()) {
                probe(charges, named, until);
            }
            return shadow ? askedWithShadow(charges, named, until) : asked(charges, named, until);
        } catch (BackendException e) {
            breaker.tell();
            throw e;
        }
    }

    private Decision askedWithShadow(List<Charge> charges, List<String> named, long until) {
        ShadowDecision shadowed = new ShadowDecision(charges, new Asking(until), until);
        return await(shadowed.decide(inOneSlot(named)), until, shadowed::giveUp);
    }

    private Decision asked(List<Charge> charges, List<String> named, long until) {
        if (inOneSlot(named)) {
            Check check = boarded(charges, named, true, until);
            return decided(check, await(check));
        }
        SlotDecision several = new SlotDecision(charges, this::slot, new Asking(until), until);
        return await(several.decide(), until, several::giveUp);
    }

    CompletableFuture<Decision> acquireAsync(List<Charge> charges) {
        List<String> named = keys.of(charges);
        boolean shadow = hasShadow(charges);
        Decision remembered = shadow ? null : remembered(charges, named);
        if (remembered != null) {
            return CompletableFuture.completedFuture(remembered);
        }
        if (!redis.isReady()) {
            return CompletableFuture.failedFuture(redis.notReady());
        }
        long until = deadlineFromNow();
        if (breaker.passOrProbe()) {
            return decide(charges, named, shadow, until);
        }
        Check look = look(charges, named, until);
        deadlines.watch(look);
        return look.whenComplete((answer, failure) -> breaker.probed(proof(failure)))
                .thenCompose(answer -> decide(charges, named, shadow, until));
    }

    /** One look at the keys of one policy, whatever the call asks for: the only command that Redis gets while the breaker is open. */
    private void probe(List<Charge> charges, List<String> named, long until) {
        BackendException failure = late();
        try {
            await(look(charges, named, until));
            failure = null;
        } catch (BackendException e) {
            failure = proof(e);
            throw e;
        } finally {
            breaker.probed(failure);
            breaker.tell();
        }
    }

    private Check look(List<Charge> charges, List<String> named, long until) {
        Charge first = charges.get(0);
        List<String> keysOfFirst = named.subList(0, first.policy().limits().size());
        Check look = made(List.of(first), keysOfFirst, false, until);
        look.probe = true;
        flights.board(look, redis.slot(keysOfFirst.get(0)));
        return look;
    }

    /** Why Redis is still away, null if it is not: one that found something strange under a key has answered. */
    private static @Nullable BackendException proof(@Nullable Throwable failure) {
        BackendException known = failure == null ? null : RedisClient.failure(failure);
        return known == null || known.reason() == Reason.FOREIGN_STATE ? null : known;
    }

    private CompletableFuture<Decision> decide(List<Charge> charges, List<String> named, boolean shadow, long until) {
        return shadow
                ? new ShadowDecision(charges, new Asking(until), until).decide(inOneSlot(named))
                : decide(charges, named, until);
    }

    /** Decides about charges none of which is shadow; ends at the deadline. */
    private CompletableFuture<Decision> decide(List<Charge> charges, List<String> named, long until) {
        if (inOneSlot(named)) {
            Check check = boarded(charges, named, true, until);
            deadlines.watch(check);
            return check.thenApply(answer -> decided(check, answer));
        }
        SlotDecision several = new SlotDecision(charges, this::slot, new Asking(until), until);
        return several.decide()
                .orTimeout(deadline.toNanos(), TimeUnit.NANOSECONDS)
                .exceptionallyCompose(failure -> {
                    several.giveUp();
                    return CompletableFuture.failedFuture(
                            failure instanceof TimeoutException ? late() : RedisClient.failure(failure));
                });
    }

    private static boolean hasShadow(List<Charge> charges) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).shadow()) {
                return true;
            }
        }
        return false;
    }

    private @Nullable Decision remembered(List<Charge> charges, List<String> named) {
        return memory == null || !isImpatient(charges)
                ? null
                : memory.recall(charges, named, System.nanoTime()).orElse(null);
    }

    private static boolean isImpatient(List<Charge> charges) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).patienceMicros() > 0) {
                return false;
            }
        }
        return true;
    }

    private Decision decided(Check check, Answer answer) {
        Decision decision = answer.decision(check.charges);
        if (memory != null) {
            if (decision.allowed()) {
                memory.admitted(check.keys);
            } else if (RefusalMemory.isWorthwhile((Decision.Rejected) decision)) {
                remember(check, answer);
            }
        }
        return decision;
    }

    private void remember(Check check, Answer answer) {
        if (memory != null) {
            memory.remember(
                    check.charges,
                    check.keys,
                    answer.states(),
                    answer.nowMicros(),
                    answer.sentNanos(),
                    answer.receivedNanos(),
                    check.stamp);
        }
    }

    List<Quota> peek(Charge charge) {
        List<Charge> charges = List.of(charge);
        long until = deadlineFromNow();
        firstAttempt(until);
        List<String> named = keys.of(charges);
        if (breaker.passOrProbe()) {
            return await(boarded(charges, named, false, until)).quotas(charges);
        }
        probe(charges, named, until);
        return await(boarded(charges, named, false, until)).quotas(charges);
    }

    void giveBack(BackendReceipt receipt) {
        breaker.pass();
        await(giveBacks.send(receipt), deadlineFromNow(), () -> {});
    }

    CompletableFuture<Void> giveBackAsync(BackendReceipt receipt) {
        breaker.pass();
        return giveBacks.sendOneOfMany(receipt);
    }

    /**
     * Charges permits that are spent later; on any thread. From its deadline on nothing waits behind it; its answer is taken whenever it
     * comes, since what was charged may not be lost.
     */
    CompletableFuture<Answer> takeAhead(Charge charge) {
        if (breaker.isOpen()) {
            return CompletableFuture.failedFuture(breaker.denied());
        }
        List<Charge> charges = List.of(charge);
        Check check = boarded(charges, keys.of(charges), true, deadlineFromNow());
        patient.watch(check);
        return check;
    }

    /** Gives back what was charged and not spent, without waiting; on any thread. */
    CompletableFuture<Void> giveBackUnspent(GiveBack what) {
        return breaker.isOpen() ? CompletableFuture.failedFuture(breaker.denied()) : giveBacks.sendOneOfMany(what);
    }

    /** Gives back a cost, after something else has ended. */
    void giveBack(Charge charge, CompletableFuture<Void> before) {
        breaker.pass();
        long until = deadlineFromNow();
        // Who was told that it was too late may ask again, and must not be given back twice.
        await(
                before.handle((done, failure) -> GiveBack.ofCost(charge))
                        .thenCompose(what -> until - System.nanoTime() <= 0
                                ? CompletableFuture.failedFuture(late())
                                : giveBacks.send(what)),
                until,
                () -> {});
    }

    void reset(Charge charge) {
        breaker.pass();
        await(giveBacks.send(GiveBack.ofAll(charge)), deadlineFromNow(), () -> {});
    }

    /** What a decision of several checks asks for, until its deadline. */
    private final class Asking implements SlotDecision.Store, ShadowDecision.Store {
        private final long until;

        Asking(long until) {
            this.until = until;
        }

        @Override
        public Check check(List<Charge> part, boolean spends) {
            Check check = boarded(part, keys.of(part), spends, until);
            CompletionStage<Answer> told = check;
            told.whenComplete((answer, failure) -> {
                if (answer != null && answer.spent()) {
                    spent(check);
                }
            });
            return check;
        }

        @Override
        public void refused(Check check, Answer answer) {
            if (isImpatient(check.charges)) {
                remember(check, answer);
            }
        }

        @Override
        public Check check(List<Charge> charges) {
            return made(charges, keys.of(charges), true, until);
        }

        @Override
        public void send(Check check) {
            flights.board(check, redis.slot(check.keys.get(0)));
        }

        @Override
        public void watch(Check check) {
            deadlines.watch(check);
        }

        @Override
        public CompletableFuture<Decision> decide(List<Charge> enforced) {
            return RedisStore.this.decide(enforced, keys.of(enforced), until);
        }

        @Override
        public Decision decided(Check check, Answer answer) {
            return RedisStore.this.decided(check, answer);
        }

        @Override
        public void spent(Check check) {
            if (memory != null) {
                memory.admitted(check.keys);
            }
        }

        @Override
        public void giveUp(Check check) {
            flights.giveUp(check);
        }

        @Override
        public void giveBack(BackendReceipt receipt) {
            if (breaker.isOpen()) {
                return;
            }
            CompletionStage<Void> given = giveBacks.send(receipt);
            // Nobody waits for it. What cannot be given back returns with its window.
            given.whenComplete((done, failure) -> {
                if (failure != null) {
                    LOG.log(Level.DEBUG, "not given back: {0}", failure.toString());
                }
            });
        }
    }

    private Check boarded(List<Charge> charges, List<String> named, boolean spends, long until) {
        Check check = made(charges, named, spends, until);
        flights.board(check, redis.slot(named.get(0)));
        return check;
    }

    private Check made(List<Charge> charges, List<String> named, boolean spends, long until) {
        long stamp = memory == null ? 0 : memory.stamp(named);
        return new Check(charges, named, spends, stamp, until);
    }

    private boolean inOneSlot(List<String> named) {
        if (named.size() == 1 || !redis.hasSlots()) {
            return true;
        }
        int first = redis.slot(named.get(0));
        return named.stream().allMatch(key -> redis.slot(key) == first);
    }

    private int slot(Charge charge) {
        return redis.slot(keys.of(charge, 0));
    }

    private long deadlineFromNow() {
        return System.nanoTime() + deadline.toNanos();
    }

    /** Right after the start, a call waits for the first attempt to connect instead of failing at once. */
    private void firstAttempt(long until) {
        try {
            redis.awaitFirstAttempt(until);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        // Redis was not asked, which is nothing for the breaker.
        if (!redis.isReady()) {
            throw redis.notReady();
        }
        if (until - System.nanoTime() <= 0) {
            throw late();
        }
    }

    private Answer await(Check check) {
        return await(check, check.deadlineNanos, () -> flights.giveUp(check));
    }

    private <T> T await(CompletableFuture<T> future, long until, Runnable giveUp) {
        try {
            return future.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            giveUp.run();
            // What was admitted without everything it asked for ends by giving up, and what was answered just now is an
            // answer.
            if (future.isDone() && !future.isCompletedExceptionally()) {
                return future.join();
            }
            throw late();
        } catch (InterruptedException e) {
            giveUp.run();
            throw interrupted(e);
        } catch (ExecutionException e) {
            throw RedisClient.failure(e.getCause() == null ? e : e.getCause());
        }
    }

    private static BackendException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new BackendException(Reason.TIMEOUT, "interrupted while waiting for Redis", e);
    }

    private BackendException late() {
        return new BackendException(Reason.TIMEOUT, "no answer of Redis within " + deadline.toMillis() + " ms", null);
    }

    private void late(Check check) {
        if (check.completeExceptionally(late())) {
            flights.giveUp(check);
        }
    }

    BackendStatus status() {
        return new BackendStatus(redis.isReady(), breaker.isOpen(), breaker.untilProbe());
    }

    /** Ends the connections, of an own client only. */
    @Override
    public void close() {
        redis.close();
    }
}
