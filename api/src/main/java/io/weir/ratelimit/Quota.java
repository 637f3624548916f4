// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.io.Serializable;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state of one limit for one key at the instant of a decision.
 *
 * @param policy the name of the policy to which the limit belongs
 * @param name the name of the limit: the name of the policy, or {@code <policy>-<window>} if the policy has several limits, such as
 *     {@code api-1m} or {@code api-month}
 * @param permits the permits per window, 0 or more
 * @param capacity the greatest number of permits that are available at once: the burst of a bucket, otherwise the permits
 * @param window the length of the window; for a calendar limit the length of the current period
 * @param remaining the permits that a call can spend at that instant, 0 or more
 * @param rejected whether the limit rejected the call
 * @param retryAfterMicros the shortest wait, in microseconds, after which the same cost is allowed if no other call spends permits. It is
 *     0 if the limit did not reject the call, and {@link #NEVER} if the cost exceeds the capacity
 * @param resetAfterMicros the time until the key equals an untouched key, in microseconds, 0 or more
 * @param nextPermitAfterMicros the time until {@code remaining} first increases, in microseconds; 0 if it equals the capacity
 * @param periodEnd the end of the period of a calendar limit, in the time zone of the limit; null for a limit with a window
 * @param blockedMicros the time until the {@linkplain RateLimiter#block block} of the key ends, in microseconds; 0 if the key is not
 *     blocked under the policy. A blocked key has no remaining permits
 */
public record Quota(
        String policy,
        String name,
        long permits,
        long capacity,
        Duration window,
        long remaining,
        boolean rejected,
        long retryAfterMicros,
        long resetAfterMicros,
        long nextPermitAfterMicros,
        @Nullable ZonedDateTime periodEnd,
        long blockedMicros)
        implements Serializable {

    /** The value of {@code retryAfterMicros} if the cost exceeds the capacity of the limit, so that no wait helps. */
    public static final long NEVER = Long.MAX_VALUE;

    /** Checks that no other component than {@code periodEnd} is null, and that none is negative. */
    public Quota {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(window, "window");
        if (permits < 0
                || capacity < 0
                || remaining < 0
                || retryAfterMicros < 0
                || resetAfterMicros < 0
                || nextPermitAfterMicros < 0
                || blockedMicros < 0) {
            throw new IllegalArgumentException("negative component in the quota of " + name);
        }
    }

    /**
     * Creates the quota of a key that is not blocked.
     *
     * @param policy the name of the policy
     * @param name the name of the limit
     * @param permits the permits per window, 0 or more
     * @param capacity the greatest number of permits that are available at once
     * @param window the length of the window
     * @param remaining the permits that a call can spend at that instant, 0 or more
     * @param rejected whether the limit rejected the call
     * @param retryAfterMicros the shortest wait, in microseconds
     * @param resetAfterMicros the time until the key equals an untouched key, in microseconds, 0 or more
     * @param nextPermitAfterMicros the time until {@code remaining} first increases, in microseconds
     * @param periodEnd the end of the period of a calendar limit; null for a limit with a window
     */
    public Quota(
            String policy,
            String name,
            long permits,
            long capacity,
            Duration window,
            long remaining,
            boolean rejected,
            long retryAfterMicros,
            long resetAfterMicros,
            long nextPermitAfterMicros,
            @Nullable ZonedDateTime periodEnd) {
        this(
                policy,
                name,
                permits,
                capacity,
                window,
                remaining,
                rejected,
                retryAfterMicros,
                resetAfterMicros,
                nextPermitAfterMicros,
                periodEnd,
                0);
    }

    /**
     * Creates the quota of a limit with a window, for a key that is not blocked.
     *
     * @param policy the name of the policy
     * @param name the name of the limit
     * @param permits the permits per window, 0 or more
     * @param capacity the greatest number of permits that are available at once
     * @param window the length of the window
     * @param remaining the permits that a call can spend at that instant, 0 or more
     * @param rejected whether the limit rejected the call
     * @param retryAfterMicros the shortest wait, in microseconds
     * @param resetAfterMicros the time until the key equals an untouched key, in microseconds, 0 or more
     * @param nextPermitAfterMicros the time until {@code remaining} first increases, in microseconds
     */
    public Quota(
            String policy,
            String name,
            long permits,
            long capacity,
            Duration window,
            long remaining,
            boolean rejected,
            long retryAfterMicros,
            long resetAfterMicros,
            long nextPermitAfterMicros) {
        this(
                policy,
                name,
                permits,
                capacity,
                window,
                remaining,
                rejected,
                retryAfterMicros,
                resetAfterMicros,
                nextPermitAfterMicros,
                null);
    }

    /**
     * Returns the quota with the smallest ratio of remaining permits to capacity. If several have the same ratio, the first one is
     * returned.
     *
     * @param quotas one quota or more
     * @return one of the quotas
     */
    public static Quota closestToExhaustion(List<Quota> quotas) {
        Quota closest = quotas.get(0);
        for (Quota quota : quotas) {
            if (quota.remainingRatio() < closest.remainingRatio()) {
                closest = quota;
            }
        }
        return closest;
    }

    /**
     * Returns the shortest wait after which the same cost is allowed if no other call spends permits.
     *
     * @return the wait: zero if the limit did not reject the call, empty if no wait helps
     */
    public Optional<Duration> retryAfter() {
        return retryAfterMicros == NEVER ? Optional.empty() : Optional.of(micros(retryAfterMicros));
    }

    /**
     * Returns the time until the block of the key ends.
     *
     * @return the time; zero if the key is not blocked under the policy
     */
    public Duration blockedFor() {
        return micros(blockedMicros);
    }

    /**
     * Returns the time until the key equals an untouched key.
     *
     * @return the time; zero for an untouched key
     */
    public Duration resetAfter() {
        return micros(resetAfterMicros);
    }

    /** Returns 0 for a limit without permits. */
    private double remainingRatio() {
        return capacity == 0 ? 0 : (double) remaining / capacity;
    }

    private static Duration micros(long micros) {
        return Duration.ofSeconds(micros / 1_000_000, micros % 1_000_000 * 1_000);
    }
}
