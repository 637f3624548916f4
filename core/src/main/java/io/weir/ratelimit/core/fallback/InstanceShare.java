// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.WindowLimit;
import java.time.Duration;

/**
 * The share of one of the instances, 1 or more, in each limit, so that all instances together allow at most the limit. The permits and the
 * burst are divided by the number of instances and rounded down, but allow at least one call.
 */
public record InstanceShare(int instances) {
    /** Returns the charge under this instance's share of its limits, without a max-wait. */
    public Charge of(Charge charge) {
        PolicyLimits whole = charge.policy();
        return new Charge(
                new PolicyLimits(
                        whole.policy(),
                        whole.tier(),
                        whole.limits().stream()
                                .map(limit -> of(limit, charge.cost()))
                                .toList()),
                charge.storedKey(),
                charge.cost());
    }

    /**
     * Returns the share of a limit. It has room for the cost on an untouched key, so that a call which the whole limit allows is
     * not rejected forever.
     */
    private Limit of(Limit limit, long cost) {
        if (limit.permits() == 0) {
            return limit;
        }
        long permits = Math.max(1, limit.permits() / instances);
        long ofOneCall = limit.fold(window -> cost, calendar -> cost, slots -> 1L);
        long oneCall = Math.min(ofOneCall, limit.capacity());
        if (!(limit instanceof WindowLimit bucket && bucket.isBucket())) {
            return limit.withPermits(Math.max(permits, oneCall));
        }
        long burst = Math.max(Math.max(1, limit.capacity() / instances), oneCall);
        try {
            return withDebt(limit.capacity(), Limit.of(bucket.algorithm(), permits, limit.window(), burst));
        } catch (IllegalArgumentException e) { // the share needs centuries to be refilled
            return withDebt(limit.capacity(), Limit.of(bucket.algorithm(), limit.permits(), limit.window(), burst));
        }
    }

    /**
     * Returns a bucket with a greatest debt of at least the capacity of the whole limit. Otherwise, a call with a low cost would
     * reduce the debt of a call with a high cost. The max-wait only raises the debt; no call waits.
     */
    private static Limit withDebt(long wholeCapacity, Limit share) {
        long windows = (wholeCapacity - share.capacity()) / share.permits() + 1;
        Duration longest = Limit.MAX_MAX_WAIT;
        try {
            return share.withMaxWait(
                    windows > longest.dividedBy(share.window())
                            ? longest
                            : share.window().multipliedBy(windows));
        } catch (IllegalArgumentException e) { // the bucket has no exact time unit
            return share;
        }
    }
}
