// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A parser of limits: {@code <permits>/<duration>} or {@code <permits>/<unit of the calendar>}, separated by commas. */
final class LimitParser {
    private LimitParser() {}

    /**
     * Parses limits such as {@code 10/1s, 1000/month}. The burst is the capacity of each limit with a window; if it is empty, the default
     * of the algorithm applies.
     *
     * @throws IllegalArgumentException if the text has another form or a value is out of range, or if there is a burst and no limit that
     *     can have one
     */
    static List<Limit> parse(String text, LimitForm form, Optional<Long> burst) {
        List<Limit> limits = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            String[] sides = part.strip().split("/", -1);
            if (sides.length != 2) {
                throw new IllegalArgumentException(
                        "\"" + part.strip() + "\" is not a limit: use <permits>/<duration>, for example 100/1m");
            }
            long permits = permits(sides[0].strip());
            limits.add(limit(permits, sides[1].strip(), form, burst));
        }
        if (burst.isPresent() && limits.stream().allMatch(CalendarLimit.class::isInstance)) {
            throw new IllegalArgumentException("a calendar limit has no burst");
        }
        return limits;
    }

    private static Limit limit(long permits, String time, LimitForm form, Optional<Long> burst) {
        Optional<CalendarPeriod.Unit> unit = CalendarPeriod.Unit.named(time);
        if (unit.isPresent()) {
            return Limit.of(permits, form.period(unit.get()));
        }
        Duration window = window(time);
        return burst.isPresent()
                ? Limit.of(form.algorithm(), permits, window, burst.get())
                : Limit.of(form.algorithm(), permits, window);
    }

    private static Duration window(String text) {
        try {
            return ConfigReader.duration(text);
        } catch (IllegalArgumentException e) {
            throw text.matches("[A-Za-z]{3,}")
                    ? new IllegalArgumentException(
                            "\"" + text + "\" is neither a duration such as 1m nor one of "
                                    + CalendarPeriod.Unit.names(),
                            e)
                    : e;
        }
    }

    private static long permits(String text) {
        if (!text.matches("\\d{1,15}") || Long.parseLong(text) > Limit.MAX_PERMITS) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a number of permits: use a whole number from 0 to " + Limit.MAX_PERMITS);
        }
        return Long.parseLong(text);
    }
}
