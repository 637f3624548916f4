// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FlightListener;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Decides on a running client: from keys to checks, from checks to flights, and who waits for how long. */
final class RedisStore implements AutoCloseable {
    /** Makes the script read Redis's clock. */
    static final TimeSource REDIS_CLOCK = () -> 0;

    private final RedisClient redis;
    private final Duration deadline;
    private final TimeSource time;
    private final StoredKeys keys;
    private final Flights flights;
    private final Deadlines deadlines;

    RedisStore(RedisClient redis, String namespace, Duration deadline, TimeSource time, FlightListener listener) {
        this.redis = redis;
        this.deadline = deadline;
        this.time = time;
        this.keys = StoredKeys.of(namespace);
        this.flights = new Flights(
                flight -> redis.run(Script.ACQUIRE, flight.keys(), flight.argument(time.micros())), listener);
        this.deadlines = new Deadlines(deadline, this::late);
    }

    Decision acquire(List<Charge> charges) {
        long until = deadlineFromNow();
        firstAttempt(until);
        if (inOneSlot(charges)) {
            return await(boarded(charges, true, until)).decision(charges);
        }
        SlotDecision several = inSeveralSlots(charges, until);
        return await(several.decide(), until, several::giveUp);
    }

    CompletableFuture<Decision> acquireAsync(List<Charge> charges) {
        long until = deadlineFromNow();
        if (inOneSlot(charges)) {
            Check check = boarded(charges, true, until);
            deadlines.watch(check);
            return check.thenApply(answer -> answer.decision(charges));
        }
        SlotDecision several = inSeveralSlots(charges, until);
        return several.decide()
                .orTimeout(deadline.toNanos(), TimeUnit.NANOSECONDS)
                .exceptionallyCompose(failure -> {
                    several.giveUp();
                    return CompletableFuture.failedFuture(
                            failure instanceof TimeoutException ? late() : RedisClient.failure(failure));
                });
    }

    List<Quota> peek(Charge charge) {
        List<Charge> charges = List.of(charge);
        long until = deadlineFromNow();
        firstAttempt(until);
        return await(boarded(charges, false, until)).quotas(charges);
    }

    void giveBack(BackendReceipt receipt) {
        List<GiveBack> parts = GiveBack.ofReceipt(receipt.use(), this::slot);
        long until = deadlineFromNow();
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        parts.forEach(part -> sent.add(run(part)));
        sent.forEach(each -> await(each, until, () -> {}));
    }

    void giveBack(Charge charge) {
        await(run(GiveBack.ofCost(charge)), deadlineFromNow(), () -> {});
    }

    void reset(Charge charge) {
        await(run(GiveBack.ofAll(charge)), deadlineFromNow(), () -> {});
    }

    private CompletableFuture<Void> run(GiveBack what) {
        List<Object> named = List.of((Object[]) keys.of(what.charges()));
        return redis.run(Script.GIVE_BACK, named, what.argument(time.micros())).thenAccept(GiveBack::checkReply);
    }

    private SlotDecision inSeveralSlots(List<Charge> charges, long until) {
        return new SlotDecision(charges, this::slot, new SlotDecision.Store() {
            @Override
            public Check check(List<Charge> part, boolean spends) {
                return boarded(part, spends, until);
            }

            @Override
            public void giveUp(Check check) {
                flights.giveUp(check);
            }

            @Override
            public void giveBack(BackendReceipt receipt) {
                // Nobody waits for it, and nothing better can be done if it fails: the permits return with their
                // window.
                GiveBack.ofReceipt(receipt.use(), RedisStore.this::slot).forEach(RedisStore.this::run);
            }
        });
    }

    private Check boarded(List<Charge> charges, boolean spends, long until) {
        String[] named = keys.of(charges);
        Check check = new Check(charges, named, spends, until);
        flights.board(check, redis.slot(named[0]));
        return check;
    }

    private boolean inOneSlot(List<Charge> charges) {
        if (charges.size() == 1 || !redis.hasSlots()) {
            return true;
        }
        int first = slot(charges.get(0));
        return charges.stream().allMatch(charge -> slot(charge) == first);
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
    }

    private Answer await(Check check) {
        return await(check, check.deadlineNanos, () -> flights.giveUp(check));
    }

    private <T> T await(CompletableFuture<T> future, long until, Runnable giveUp) {
        try {
            return future.get(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            giveUp.run();
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

    /** Ends the connections, of an own client only. */
    @Override
    public void close() {
        redis.close();
    }
}
