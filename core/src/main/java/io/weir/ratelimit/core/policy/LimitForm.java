// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitOverride;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The attributes that all limits of a policy share, those of its tiers and of single keys included.
 *
 * @param anchor the day of the month on which their months, quarters and years begin, 1 to 31
 * @param slotTimeout the time after which a slot is free if its instance has not renewed it
 */
public record LimitForm(Algorithm algorithm, ZoneId zone, int anchor, OptionalInt concurrency, Duration slotTimeout) {
    private static final ZoneId UTC = ZoneId.of("UTC");
    private static final Duration SLOT_TIMEOUT = Duration.ofMinutes(1);

    /** Returns a form with the default calendar, without a concurrency limit. */
    public static LimitForm of(Algorithm algorithm) {
        return new LimitForm(algorithm, UTC, 1, OptionalInt.empty(), SLOT_TIMEOUT);
    }

    /** Returns this form with the calendar and the concurrency of a single key. */
    LimitForm with(LimitOverride override) {
        return new LimitForm(
                algorithm,
                override.zone().orElse(zone),
                override.anchor().orElse(anchor),
                override.concurrency().isPresent() ? override.concurrency() : concurrency,
                slotTimeout);
    }

    /** Returns this form with the concurrency of a tier or a key, if it has one of its own. */
    LimitForm withConcurrency(Optional<Integer> calls) {
        return calls.isPresent()
                ? new LimitForm(algorithm, zone, anchor, OptionalInt.of(calls.get()), slotTimeout)
                : this;
    }

    /** Returns limits with the concurrency limit after the others, if there is one. */
    List<Limit> withSlots(List<Limit> limits) {
        if (concurrency.isEmpty()) {
            return limits;
        }
        List<Limit> all = new ArrayList<>(limits);
        all.add(Limit.concurrency(concurrency.getAsInt(), slotTimeout));
        return List.copyOf(all);
    }

    /** Returns the periods of a calendar limit. */
    CalendarPeriod period(CalendarPeriod.Unit unit) {
        return new CalendarPeriod(unit, zone, anchor);
    }
}
