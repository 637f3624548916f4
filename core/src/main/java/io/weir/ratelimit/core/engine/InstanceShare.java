// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;

/**
 * The part of each limit that one instance may give away by itself, so that all instances together give away no more than the
 * limit: permits and burst divided by the instances and rounded down, but at least one call.
 *
 * @param instances how many instances share the limits, 1 or more
 */
record InstanceShare(int instances) {
    /** The same charge under this instance's share of its limits; it does not wait. */
    Charge of(Charge charge) {
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

    /** A dear call that the whole limit admits must not be refused for ever: it has room where nothing is spent. */
    private Limit of(Limit limit, long cost) {
        if (limit.permits() == 0) {
            return limit;
        }
        long permits = Math.max(1, limit.permits() / instances);
        long oneCall = Math.min(cost, limit.capacity());
        if (!isBucket(limit.algorithm())) {
            return Limit.of(limit.algorithm(), Math.max(permits, oneCall), limit.window());
        }
        long burst = Math.max(Math.max(1, limit.capacity() / instances), oneCall);
        try {
            return owing(limit.capacity(), Limit.of(limit.algorithm(), permits, limit.window(), burst));
        } catch (IllegalArgumentException e) { // so slow a refill would take centuries
            return owing(limit.capacity(), Limit.of(limit.algorithm(), limit.permits(), limit.window(), burst));
        }
    }

    /** A bucket owes no more than it holds or calls wait for, so that a cheap call would forgive what a dear one owes. Nobody waits. */
    private static Limit owing(long most, Limit share) {
        long windows = (most - share.capacity()) / share.permits() + 1;
        Duration longest = Limit.MAX_MAX_WAIT;
        try {
            return share.withMaxWait(
                    windows > longest.dividedBy(share.window())
                            ? longest
                            : share.window().multipliedBy(windows));
        } catch (IllegalArgumentException e) { // too much to be counted exactly
            return share;
        }
    }

    private static boolean isBucket(Algorithm algorithm) {
        return algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
    }
}
