// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What one limit said at the instant of a decision.
 *
 * @param policy the policy the limit belongs to
 * @param name the limit's own name: the policy's, or {@code <policy>-<window>} where the policy has several
 * @param permits permits per window, 0 or more
 * @param capacity permits that the limit can hold at most: the burst of a bucket, else the permits
 * @param window the window's length
 * @param remaining permits that a call at that instant could still spend, 0 or more
 * @param refused whether this limit had no room for the call
 * @param retryAfterMicros microseconds after which the same cost is admitted if nobody else spends: the least such wait, 0 if
 *     there was room, {@link #NEVER} if the cost exceeds what the limit can ever hold
 * @param resetAfterMicros microseconds until the key equals an untouched one, 0 or more
 * @param growsAfterMicros microseconds until {@code remaining} first grows, 0 if it already is at its greatest
 */
public record Quota(
        String policy,
        String name,
        long permits,
        long capacity,
        Duration window,
        long remaining,
        boolean refused,
        long retryAfterMicros,
        long resetAfterMicros,
        long growsAfterMicros)
        implements Serializable {

    /** The wait of a call that no wait can help, because its cost exceeds what the limit can ever hold. */
    public static final long NEVER = Long.MAX_VALUE;

    /** Checks that no component is null or out of range. */
    public Quota {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(window, "window");
        if (permits < 0
                || capacity < 0
                || remaining < 0
                || retryAfterMicros < 0
                || resetAfterMicros < 0
                || growsAfterMicros < 0) {
            throw new IllegalArgumentException("negative component in quota of " + name);
        }
    }

    /**
     * The limit with the least part of its capacity left, the first of equals.
     *
     * @param quotas one or more
     * @return one of them
     */
    public static Quota closestToExhaustion(List<Quota> quotas) {
        Quota closest = quotas.get(0);
        for (Quota quota : quotas) {
            if (quota.leftPart() < closest.leftPart()) {
                closest = quota;
            }
        }
        return closest;
    }

    /**
     * The least wait after which the same cost is admitted if nobody else spends: zero if there was room, empty if no wait
     * helps.
     *
     * @return the wait
     */
    public Optional<Duration> retryAfter() {
        return retryAfterMicros == NEVER ? Optional.empty() : Optional.of(micros(retryAfterMicros));
    }

    /**
     * The time until the key equals an untouched one.
     *
     * @return the time, zero for an untouched key
     */
    public Duration resetAfter() {
        return micros(resetAfterMicros);
    }

    /** Nothing is left of a limit that permits nothing. */
    private double leftPart() {
        return capacity == 0 ? 0 : (double) remaining / capacity;
    }

    private static Duration micros(long micros) {
        return Duration.ofSeconds(micros / 1_000_000, micros % 1_000_000 * 1_000);
    }
}
