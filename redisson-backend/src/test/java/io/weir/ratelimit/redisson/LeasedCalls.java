// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Calls of one key of a policy with leases, with a count of the allowed ones. */
final class LeasedCalls {
    static final Duration SOON = Duration.ofSeconds(20);

    private final RedissonBackend backend;

    /** A backend of the same keys that holds no leases. */
    private final RedissonBackend other;

    private final Charge charge;
    private long allowed;
    private long failed;

    LeasedCalls(RedissonBackend backend, RedissonBackend other, Charge charge) {
        this.backend = backend;
        this.other = other;
        this.charge = charge;
    }

    static Charge charge(long lease, Limit... limits) {
        return new Charge(new PolicyLimits(TestBackend.POLICY, List.of(limits)).withLease(lease), "k.hot", 1);
    }

    static Limit monthly(Algorithm algorithm, long permits) {
        return Limit.of(algorithm, permits, Duration.ofDays(30));
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
            calls(20);
            return spentInRedis() > allowed + failed;
        });
        return this;
    }

    /** Calls until 50 calls in a row are rejected. */
    List<Decision> untilRejected() {
        List<Decision> all = new ArrayList<>();
        for (int rejected = 0; rejected < 50; ) {
            Decision decision = call();
            all.add(decision);
            rejected = decision.allowed() ? 0 : rejected + 1;
        }
        return all;
    }

    long allowed() {
        return allowed;
    }

    long spentInRedis() {
        Quota quota = other.peek(charge).get(0);
        return quota.capacity() - quota.remaining();
    }

    /** Waits until Redis has charged exactly the allowed calls of this and other instances. */
    void awaitRefunds(long allowedToOthers) {
        Await.until("all unspent permits are refunded", SOON, () -> spentInRedis() == allowed + allowedToOthers);
    }

    /** Records failed calls, each of which Redis may have charged. */
    void recordFailed(long calls) {
        failed += calls;
    }

    /** Waits until Redis has charged the allowed calls, and at most the failed ones besides. */
    void awaitRefundsExceptOfFailedCalls() {
        Await.until("all unspent permits are refunded", SOON, () -> {
            long more = spentInRedis() - allowed;
            return more >= 0 && more <= failed;
        });
    }

    void awaitAllRefunds() {
        awaitRefunds(0);
    }
}
