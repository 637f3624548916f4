// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.rejection;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Rejection that is repeated for a short time while permits of an overloaded key return, even if Redis might allow the next call. Start and
 * end are by {@link System#nanoTime}.
 */
record HeldRejection(String key, PolicyLimits policy, long cost, List<Quota> quotas, long startNanos, long endNanos) {
    /** The longest time for which calls are rejected although Redis might allow them. */
    static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** A rejection is repeated until one part of this many of a lease has returned. */
    private static final int PARTS_OF_LEASE = 4;

    static HeldRejection of(String key, Charge charge, Decision.Rejected rejection, long nowNanos) {
        long nanos = Math.min(MAX_NANOS, nanosUntilPartOfLease(charge.policy()));
        return new HeldRejection(key, charge.policy(), charge.cost(), rejection.quotas(), nowNanos, nowNanos + nanos);
    }

    /** Returns the time in which a part of a lease returns under the slowest limit. */
    private static long nanosUntilPartOfLease(PolicyLimits policy) {
        double nanosPerPermit = 0;
        for (Limit limit : policy.limits()) {
            nanosPerPermit = Math.max(nanosPerPermit, 1e3 * limit.windowMicros() / Math.max(1, limit.permits()));
        }
        return (long) Math.min((double) MAX_NANOS, nanosPerPermit * policy.lease() / PARTS_OF_LEASE);
    }

    /** Returns whether the rejection applies to a charge of the same key. */
    boolean appliesTo(Charge charge, long nowNanos) {
        return endNanos - nowNanos > 0 && charge.cost() >= cost && policy.equals(charge.policy());
    }

    /** Returns whether the rejection applies, or did so a short time ago. */
    boolean isRecent(long nowNanos) {
        return nowNanos - endNanos < MAX_NANOS;
    }

    /** Returns the rejection with quotas as of now. No call is allowed before the end. */
    Decision.Rejected rejection(long nowNanos) {
        long untilEnd = TimeUnit.NANOSECONDS.toMicros(endNanos - nowNanos) + 1;
        // Another thread can have held the rejection after this one has read the time.
        long age = Math.max(0, TimeUnit.NANOSECONDS.toMicros(nowNanos - startNanos));
        return new Decision.Rejected(List.of(new ChargeResult(
                policy.policy(),
                false,
                quotas.stream().map(quota -> later(quota, untilEnd, age)).toList())));
    }

    private static Quota later(Quota quota, long untilEndMicros, long ageMicros) {
        long retryAfter = Math.max(untilEndMicros, Micros.retryAfter(quota) - ageMicros);
        long reset = Micros.resetAfter(quota) - ageMicros;
        Quota.Builder later = quota.toBuilder()
                .nextPermitAfter(rest(Micros.nextPermitAfter(quota), ageMicros))
                .blockedFor(rest(Micros.blockedFor(quota), ageMicros));
        return quota.rejected()
                ? later.rejectedFor(Micros.duration(retryAfter))
                        .resetAfter(Micros.duration(Math.max(retryAfter, reset)))
                        .build()
                : later.resetAfter(Micros.duration(Math.max(0, reset))).build();
    }

    private static Duration rest(long micros, long ageMicros) {
        return Micros.duration(Math.max(0, micros - ageMicros));
    }
}
