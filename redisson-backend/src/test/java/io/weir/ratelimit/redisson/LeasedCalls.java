// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Calls on one key of a policy with a lease, with a count of those that were admitted. */
final class LeasedCalls {
    static final Duration SOON = Duration.ofSeconds(20);

    private final RedissonBackend backend;

    /** On the same keys, without a lease of its own. */
    private final RedissonBackend other;

    private final Charge charge;
    private long admitted;
    private long failed;

    LeasedCalls(RedissonBackend backend, RedissonBackend other, Charge charge) {
        this.backend = backend;
        this.other = other;
        this.charge = charge;
    }

    static Charge charge(long lease, Limit... limits) {
        return new Charge(new PolicyLimits(TestStore.POLICY, List.of(limits)).withLease(lease), "k.hot", 1);
    }

    static Limit monthly(Algorithm algorithm, long permits) {
        return Limit.of(algorithm, permits, Duration.ofDays(30));
    }

    /** Calls once. */
    Decision call() {
        return counted(backend.acquire(List.of(charge)));
    }

    Decision counted(Decision decision) {
        admitted += decision.allowed() ? 1 : 0;
        return decision;
    }

    List<Decision> calls(int times) {
        return IntStream.range(0, times).mapToObj(call -> call()).toList();
    }

    /** Calls until this instance holds permits ahead. */
    LeasedCalls hot() {
        Await.until("permits are taken ahead", SOON, () -> {
            calls(20);
            return spentInRedis() > admitted + failed;
        });
        return this;
    }

    /** Calls until calls are refused, again and again. */
    List<Decision> untilRefused() {
        List<Decision> all = new ArrayList<>();
        for (int refused = 0; refused < 50; ) {
            Decision decision = call();
            all.add(decision);
            refused = decision.allowed() ? 0 : refused + 1;
        }
        return all;
    }

    long admitted() {
        return admitted;
    }

    long spentInRedis() {
        Quota quota = other.peek(charge).get(0);
        return quota.capacity() - quota.remaining();
    }

    /** Waits until Redis has charged what this and others were admitted. */
    void awaitGivenBack(long toOthers) {
        Await.until("all unspent permits are back", SOON, () -> spentInRedis() == admitted + toOthers);
    }

    /** Notes calls that failed, each of which Redis may have charged. */
    void mayHaveSpent(long calls) {
        failed += calls;
    }

    /** Waits until Redis has charged what was admitted, and at most what failed beside it. */
    void awaitGivenBackButForFailures() {
        Await.until("all unspent permits are back", SOON, () -> {
            long more = spentInRedis() - admitted;
            return more >= 0 && more <= failed;
        });
    }

    void awaitAllGivenBack() {
        awaitGivenBack(0);
    }
}
