// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.redisson.rejection.HotKeyDetector;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;

/** Calls of one key of a policy with leases, with a count of the allowed ones. */
final class LeasedCalls {
    static final Duration SOON = Duration.ofSeconds(20);

    private final RedissonBackend backend;

    /** A backend of the same keys that holds no leases. */
    private final RedissonBackend other;

    private final Charge charge;
    private final Runnable checkLeases;
    private long allowed;
    private long failed;
    private long lost;

    LeasedCalls(RedissonBackend backend, RedissonBackend other, Charge charge) {
        this(backend, other, charge, () -> {});
    }

    /**
     * Creates calls of a backend with a manual timer.
     *
     * @param checkLeases runs the next check of the leases
     */
    LeasedCalls(RedissonBackend backend, RedissonBackend other, Charge charge, Runnable checkLeases) {
        this.backend = backend;
        this.other = other;
        this.charge = charge;
        this.checkLeases = checkLeases;
    }

    static Charge charge(long lease, Limit... limits) {
        return new Charge(new PolicyLimits(TestBackend.POLICY, List.of(limits)).withLease(lease), "k.hot", 1);
    }

    static Limit monthly(Algorithm algorithm, long permits) {
        return Limit.of(algorithm, permits, Duration.ofDays(30));
    }

    Charge charge() {
        return charge;
    }

    Decision call() {
        return counted(backend.acquire(List.of(charge)));
    }

    Decision counted(Decision decision) {
        allowed += decision.allowed() ? 1 : 0;
        return decision;
    }

    List<Decision> calls(int times) {
        return IntStream.range(0, times).mapToObj(call -> call()).toList();
    }

    /** Calls until the instance holds leased permits. */
    LeasedCalls hot() {
        Await.until("the instance holds leased permits", SOON, () -> {
            callAtOnce();
            return holdsPermits();
        });
        return this;
    }

    /** Starts enough calls to make the key hot, however long a round trip takes. */
    private void callAtOnce() {
        List<CompletableFuture<Decision>> calls = IntStream.range(0, 2 * HotKeyDetector.HOT)
                .mapToObj(call -> backend.acquireAsync(List.of(charge)).toCompletableFuture())
                .toList();
        for (CompletableFuture<Decision> call : calls) {
            try {
                counted(call.join());
            } catch (CompletionException e) {
                assertThat(e).hasCauseInstanceOf(BackendException.class);
                failed++;
            }
        }
    }

    /** Calls once, and returns whether the call has spent a leased permit and another one is left. */
    private boolean holdsPermits() {
        long before = spentInRedis();
        if (before <= allowed + failed) {
            return false;
        }
        call();
        return before > allowed + failed && spentInRedis() == before;
    }

    /** Calls until as many calls have been allowed, and checks that no more are allowed. */
    void spendAll(long expected) {
        Await.until(expected + " calls are allowed", SOON, () -> {
            untilRejected();
            return allowed >= expected;
        });
        calls(50);
        assertThat(allowed).isEqualTo(expected);
    }

    void untilRejected() {
        while (call().allowed()) {
            // the limit is not spent
        }
    }

    /** Refunds the call of a decision, so that it is not one of the allowed ones. */
    void refund(Decision.Allowed decision) {
        allowed--;
        backend.refund(decision.receipt()).toCompletableFuture().join();
    }

    long allowed() {
        return allowed;
    }

    long spentInRedis() {
        Quota quota = other.peek(List.of(charge)).get(0);
        return quota.capacity() - quota.remaining();
    }

    /**
     * Waits until Redis has charged exactly the allowed calls.
     *
     * @param allowedToOthers the allowed calls of other instances, minus the refunded ones of this instance
     */
    void awaitRefunds(long allowedToOthers) {
        Await.until("all unspent permits are refunded", SOON, () -> {
            checkLeases.run();
            return spentInRedis() == allowed + allowedToOthers;
        });
    }

    /** Records failed calls, each of which Redis may have charged. */
    void recordFailed(long calls) {
        failed += calls;
    }

    /** Records permits that requests can have lost, because their answers can have been too late on a busy machine. */
    void recordLost(long permits) {
        lost += permits;
    }

    /** Waits until Redis has charged the allowed calls, and at most the failed ones and the lost permits besides. */
    void awaitRefundsExceptOfFailedCalls() {
        Await.until("all unspent permits are refunded", SOON, () -> {
            checkLeases.run();
            long more = spentInRedis() - allowed;
            return more >= 0 && more <= failed + lost;
        });
    }

    void awaitAllRefunds() {
        awaitRefunds(0);
    }
}
