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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Decides on a running client: whether Redis is asked at all, and who waits for how long. */
final class RedisStore implements AutoCloseable {
    /** Makes the script read Redis's clock. */
    static final TimeSource REDIS_CLOCK = () -> 0;

    private final RedisClient redis;
    private final StoredKeys keys;
    private final Waiting waiting;
    private final CheckIn checkIn;
    private final GiveBacks giveBacks;
    private final Breaker breaker;

    RedisStore(
            RedisClient redis,
            String namespace,
            Duration deadline,
            TimeSource time,
            BackendListener listener,
            Breaker breaker) {
        this.breaker = breaker;
        this.redis = redis;
        this.waiting = new Waiting(deadline);
        this.keys = StoredKeys.of(namespace);
        Flights flights = new Flights(
                flight -> redis.run(
                        Script.ACQUIRE, flight.keys(), flight.argument(time.micros()), flight.deadlineNanos()),
                listener,
                breaker);
        RefusalMemory memory = time == REDIS_CLOCK ? new RefusalMemory() : null;
        this.giveBacks = new GiveBacks(redis, keys, time, deadline, memory);
        this.checkIn = new CheckIn(redis, keys, flights, breaker, giveBacks, waiting, memory);
    }

    Decision acquire(List<Charge> charges) {
        List<String> named = keys.of(charges);
        boolean shadow = hasShadow(charges);
        Decision remembered = shadow ? null : checkIn.remembered(charges, named);
        if (remembered != null) {
            return remembered;
        }
        long until = waiting.fromNow();
        waiting.firstAttempt(redis, until);
        try {
            if (!breaker.passOrProbe()) {
                awaitProbe(charges, until);
            }
            return shadow ? askedWithShadow(charges, named, until) : asked(charges, named, until);
        } catch (BackendException e) {
            breaker.tell();
            throw e;
        }
    }

    private Decision askedWithShadow(List<Charge> charges, List<String> named, long until) {
        ShadowDecision shadowed = checkIn.shadowed(charges, until);
        return waiting.await(shadowed.decide(checkIn.inOneSlot(named)), until, shadowed::giveUp);
    }

    private Decision asked(List<Charge> charges, List<String> named, long until) {
        if (checkIn.inOneSlot(named)) {
            Check check = checkIn.boarded(charges, named, true, until);
            return checkIn.decided(check, await(check));
        }
        SlotDecision several = checkIn.several(charges, until);
        return waiting.await(several.decide(), until, several::giveUp);
    }

    CompletableFuture<Decision> acquireAsync(List<Charge> charges) {
        List<String> named = keys.of(charges);
        boolean shadow = hasShadow(charges);
        Decision remembered = shadow ? null : checkIn.remembered(charges, named);
        if (remembered != null) {
            return CompletableFuture.completedFuture(remembered);
        }
        if (!redis.isReady()) {
            return CompletableFuture.failedFuture(redis.notReady());
        }
        long until = waiting.fromNow();
        if (breaker.passOrProbe()) {
            return decide(charges, named, shadow, until);
        }
        return proven(checkIn.probe(charges, until)).thenCompose(answer -> decide(charges, named, shadow, until));
    }

    private CompletableFuture<Decision> decide(List<Charge> charges, List<String> named, boolean shadow, long until) {
        return shadow
                ? checkIn.shadowed(charges, until).decide(checkIn.inOneSlot(named))
                : checkIn.decide(charges, named, until);
    }

    private static boolean hasShadow(List<Charge> charges) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).shadow()) {
                return true;
            }
        }
        return false;
    }

    /** Asks whether Redis is back. Who is interrupted leaves the answer to decide; who has waited for long enough decides. */
    private void awaitProbe(List<Charge> charges, long until) {
        Check probe = checkIn.probe(charges, until);
        CompletableFuture<Answer> proven = proven(probe);
        try {
            waiting.await(proven, until, () -> {
                if (until - System.nanoTime() <= 0) {
                    checkIn.late(probe);
                    // Where it has ended at this moment, who ended it may still be telling.
                    proven.handle((answer, failure) -> true).join();
                }
            });
        } finally {
            breaker.tell();
        }
    }

    private CompletableFuture<Answer> proven(Check probe) {
        return probe.whenComplete((answer, failure) -> breaker.probed(proof(failure)));
    }

    /** Why Redis is still away, null if it is not: one that found something strange under a key has answered. */
    private static @Nullable BackendException proof(@Nullable Throwable failure) {
        BackendException known = failure == null ? null : RedisClient.failure(failure);
        return known == null || known.reason() == Reason.FOREIGN_STATE ? null : known;
    }

    List<Quota> peek(Charge charge) {
        List<Charge> charges = List.of(charge);
        long until = waiting.fromNow();
        waiting.firstAttempt(redis, until);
        List<String> named = keys.of(charges);
        if (!breaker.passOrProbe()) {
            awaitProbe(charges, until);
        }
        return await(checkIn.boarded(charges, named, false, until)).quotas(charges);
    }

    void giveBack(BackendReceipt receipt) {
        breaker.pass();
        await(giveBacks.send(receipt));
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
        return checkIn.watchedWithPatience(checkIn.boarded(charges, keys.of(charges), true, waiting.fromNow()));
    }

    /** Gives back what was charged and not spent, without waiting; on any thread. */
    CompletableFuture<Void> giveBackUnspent(GiveBack what) {
        return breaker.isOpen() ? CompletableFuture.failedFuture(breaker.denied()) : giveBacks.sendOneOfMany(what);
    }

    /** Gives back a cost, after something else has ended. */
    void giveBack(Charge charge, CompletableFuture<Void> before) {
        breaker.pass();
        long until = waiting.fromNow();
        // Who was told that it was too late may ask again, and must not be given back twice.
        waiting.await(
                before.handle((done, failure) -> GiveBack.ofCost(charge))
                        .thenCompose(what -> until - System.nanoTime() <= 0
                                ? CompletableFuture.failedFuture(waiting.late())
                                : giveBacks.send(what, until)),
                until,
                () -> {});
    }

    void reset(Charge charge) {
        breaker.pass();
        await(giveBacks.send(GiveBack.ofAll(charge)));
    }

    private Answer await(Check check) {
        return waiting.await(check, check.deadlineNanos, () -> checkIn.giveUp(check));
    }

    private void await(CompletableFuture<Void> given) {
        waiting.await(given, waiting.fromNow(), () -> {});
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
