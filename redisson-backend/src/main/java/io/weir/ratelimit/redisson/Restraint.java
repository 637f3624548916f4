// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Lets permits of an overloaded key gather before Redis is asked again. Those of a sliding window or a bucket return one by one, and
 * who asks for each of them asks as often as the limit admits, and once more for each caller who comes between. Only keys with a lease
 * are treated so, and only while many of their calls are refused: as with a lease, the limit may admit a little less, never more.
 */
final class Restraint {
    private static final int PLACES = 1_024;
    private static final int SPREAD = 0x9E3779B9;

    /** As many returns are waited for as the part of a lease that is worth a request ... */
    private static final int PART_OF_LEASE = 4;

    /** ... but nobody is refused for much longer than Redis would. */
    static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private record Held(
            String key, PolicyLimits policy, long cost, List<Quota> quotas, long sinceNanos, long untilNanos) {}

    private final StoredKeys keys;
    private final Busyness refusals = new Busyness();
    private final AtomicReferenceArray<@Nullable Held> places = new AtomicReferenceArray<>(PLACES);

    Restraint(StoredKeys keys) {
        this.keys = keys;
    }

    /** The refusal of a call about which Redis is not asked yet; null if it is. */
    Decision.@Nullable Rejected refusal(Charge charge, long nowNanos) {
        String key = keys.of(charge, 0);
        Held held = places.get(place(key));
        if (held == null
                || held.untilNanos - nowNanos <= 0
                || charge.cost() < held.cost
                || !held.key.equals(key)
                || !held.policy.equals(charge.policy())) {
            return null;
        }
        long wait = TimeUnit.NANOSECONDS.toMicros(held.untilNanos - nowNanos) + 1;
        long age = TimeUnit.NANOSECONDS.toMicros(nowNanos - held.sinceNanos);
        return new Decision.Rejected(
                held.quotas.stream().map(quota -> later(quota, wait, age)).toList());
    }

    private static Quota later(Quota quota, long waitMicros, long ageMicros) {
        long wait = quota.refused() ? Math.max(waitMicros, quota.retryAfterMicros() - ageMicros) : 0;
        return new Quota(
                quota.policy(),
                quota.name(),
                quota.permits(),
                quota.capacity(),
                quota.window(),
                quota.remaining(),
                quota.refused(),
                wait,
                Math.max(wait, quota.resetAfterMicros() - ageMicros),
                Math.max(0, quota.growsAfterMicros() - ageMicros));
    }

    /** Takes note of a refusal; of one that no wait helps, of no. */
    void refused(Charge charge, Decision.Rejected refusal, long nowNanos) {
        String key = keys.of(charge, 0);
        if (!refusals.isBusy(key, nowNanos) || refusal.retryAfter().isEmpty()) {
            return;
        }
        long until = nowNanos + Math.min(LONGEST_NANOS, gathering(charge.policy()));
        places.set(place(key), new Held(key, charge.policy(), charge.cost(), refusal.quotas(), nowNanos, until));
    }

    /** The time in which a part of a lease returns, by the slowest limit. */
    private static long gathering(PolicyLimits policy) {
        double longest = 0;
        for (Limit limit : policy.limits()) {
            longest = Math.max(longest, 1e3 * limit.windowMicros() / Math.max(1, limit.permits()));
        }
        return (long) Math.min((double) LONGEST_NANOS, longest * policy.lease() / PART_OF_LEASE);
    }

    /** Whether calls of a key were kept from Redis just now. */
    boolean isOverloaded(String key, long nowNanos) {
        Held held = places.get(place(key));
        return held != null && held.key.equals(key) && nowNanos - held.untilNanos < LONGEST_NANOS;
    }

    /** Permits come back to a key. */
    void forget(Charge charge) {
        places.set(place(keys.of(charge, 0)), null);
    }

    private static int place(String key) {
        int hash = key.hashCode() * SPREAD;
        return (hash ^ hash >>> 16) & PLACES - 1;
    }
}
