// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.rejection;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** States of a key that Redis returned when it rejected a call. */
public record CachedRejection(
        String key, List<Limit> limits, long cost, List<LimitState> states, RedisTime time, long version) {
    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Returns whether the states decide on a charge. The summary of a log decides on the rejected cost only. */
    public boolean decidesOn(Charge charge) {
        return limits.equals(charge.policy().limits()) && (cost == charge.cost() || !hasLog());
    }

    private boolean hasLog() {
        for (int i = 0; i < limits.size(); i++) {
            if (limits.get(i).uses(Algorithm.SLIDING_LOG)) {
                return true;
            }
        }
        return false;
    }

    boolean isExpired(long nowNanos) {
        return nowNanos - time.sentNanos() > MAX_AGE_NANOS;
    }

    /** Returns whether a limit has no room for a cost even at the latest time that Redis's clock can show. */
    public boolean rejects(long askedCost, long nowNanos) {
        long latest = time.latestMicros(nowNanos);
        for (int i = 0; i < limits.size(); i++) {
            Limit limit = limits.get(i);
            if (!states.get(i).asOf(limit, latest).hasRoom(limit, askedCost, latest)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the result at the earliest time that Redis's clock can show, so that its retry-after is long enough. */
    public ChargeResult result(Charge charge, long nowNanos) {
        long earliest = time.earliestMicros(nowNanos);
        List<LimitState> current = new ArrayList<>(limits.size());
        for (int i = 0; i < limits.size(); i++) {
            current.add(states.get(i).asOf(limits.get(i), earliest));
        }
        return new ChargeStates(charge, current).result(false, earliest);
    }
}
