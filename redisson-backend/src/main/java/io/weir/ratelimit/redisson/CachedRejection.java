// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.QuotaCalculator;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.concurrent.TimeUnit;

/**
 * State of one limit that Redis returned when it rejected a call.
 *
 * @param key the key of the limit
 * @param limit the limit
 * @param cost the cost that was rejected
 * @param state the state
 * @param time the instant of the state
 * @param version the version of the key in the {@link RejectionCache}
 */
record CachedRejection(String key, Limit limit, long cost, LimitState state, RedisTime time, long version) {
    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Returns whether the state decides on a cost. The summary of a log decides on the rejected cost only. */
    boolean decidesOn(Limit asked, long askedCost) {
        return limit.equals(asked) && (limit.algorithm() != Algorithm.SLIDING_LOG || cost == askedCost);
    }

    boolean isExpired(long nowNanos) {
        return nowNanos - time.sentNanos() > MAX_AGE_NANOS;
    }

    /** Returns whether the limit has no room for a cost even at the latest time that Redis's clock can show. */
    boolean rejects(long askedCost, long nowNanos) {
        long latest = time.latestMicros(nowNanos);
        return !state.asOf(limit, latest).hasRoom(limit, askedCost, latest);
    }

    /** Returns the quota at the earliest time that Redis's clock can show, so that its retry-after is long enough. */
    Quota quota(Charge charge, int index, long nowNanos) {
        long earliest = time.earliestMicros(nowNanos);
        return QuotaCalculator.quota(charge, index, state.asOf(limit, earliest), false, earliest);
    }
}
