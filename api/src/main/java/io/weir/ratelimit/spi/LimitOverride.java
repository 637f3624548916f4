// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.time.ZoneId;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The limits of one key in place of the limits of its policy. The algorithm and the {@code max-wait} of the policy still apply.
 *
 * @param limit the limits in the syntax of configuration, such as {@code 10/1s, 1000/1h}; checked when they are first used. A limit with
 *     the same window or unit of the calendar as a limit of the policy continues with its state. Any other limit starts with an untouched
 *     key
 * @param burst the capacity of a bucket in permits, 1 or more, for policies with a bucket algorithm; empty for the default of the
 *     algorithm
 * @param anchor the day of the month on which the key's months, quarters and years begin, 1 to 31; empty for the anchor of the policy
 * @param zone the time zone of the key's calendar limits; empty for the zone of the policy
 * @param concurrency the number of calls of the key that may run at once, 0 (blocks) to {@link Limit#MAX_CONCURRENCY}; empty for the
 *     {@code concurrency} of the policy
 */
public record LimitOverride(
        String limit, OptionalLong burst, OptionalInt anchor, Optional<ZoneId> zone, OptionalInt concurrency) {
    /** Checks that no component is null and that anchor and concurrency are in range. */
    public LimitOverride {
        Objects.requireNonNull(limit, "limit");
        Objects.requireNonNull(burst, "burst");
        Objects.requireNonNull(anchor, "anchor");
        Objects.requireNonNull(zone, "zone");
        Objects.requireNonNull(concurrency, "concurrency");
        if (anchor.isPresent() && (anchor.getAsInt() < 1 || anchor.getAsInt() > CalendarPeriod.MAX_ANCHOR)) {
            throw new IllegalArgumentException("anchor must be from 1 to " + CalendarPeriod.MAX_ANCHOR);
        }
        if (concurrency.isPresent() && (concurrency.getAsInt() < 0 || concurrency.getAsInt() > Limit.MAX_CONCURRENCY)) {
            throw new IllegalArgumentException("concurrency must be from 0 to " + Limit.MAX_CONCURRENCY);
        }
    }

    /**
     * Creates an override with the concurrency of the policy.
     *
     * @param limit the limits in the syntax of configuration
     * @param burst the capacity of a bucket in permits; empty for the default of the algorithm
     * @param anchor the day of the month on which the key's months begin; empty for the anchor of the policy
     * @param zone the time zone of the key's calendar limits; empty for the zone of the policy
     */
    public LimitOverride(String limit, OptionalLong burst, OptionalInt anchor, Optional<ZoneId> zone) {
        this(limit, burst, anchor, zone, OptionalInt.empty());
    }

    /**
     * Creates an override with the anchor and the zone of the policy.
     *
     * @param limit the limits in the syntax of configuration
     * @param burst the capacity of a bucket in permits; empty for the default of the algorithm
     */
    public LimitOverride(String limit, OptionalLong burst) {
        this(limit, burst, OptionalInt.empty(), Optional.empty());
    }

    /**
     * Returns an override with the default burst.
     *
     * @param limit the limits in the syntax of configuration
     * @return the override
     */
    public static LimitOverride of(String limit) {
        return new LimitOverride(limit, OptionalLong.empty());
    }

    /**
     * Returns this override with an anchor, such as the day of the month on which a customer is billed.
     *
     * @param day the day of the month, 1 to 31
     * @return the override
     */
    public LimitOverride withAnchor(int day) {
        return new LimitOverride(limit, burst, OptionalInt.of(day), zone, concurrency);
    }

    /**
     * Returns this override with a time zone.
     *
     * @param other the time zone of the key's calendar limits
     * @return the override
     */
    public LimitOverride withZone(ZoneId other) {
        return new LimitOverride(limit, burst, anchor, Optional.of(other), concurrency);
    }

    /**
     * Returns this override with a number of calls that may run at once.
     *
     * @param calls the number of calls of the key, 0 (blocks) to {@link Limit#MAX_CONCURRENCY}
     * @return the override
     */
    public LimitOverride withConcurrency(int calls) {
        return new LimitOverride(limit, burst, anchor, zone, OptionalInt.of(calls));
    }
}
