// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.config.Durations;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A parser of limits: {@code <permits>/<duration>}, separated by commas. */
final class LimitParser {
    private LimitParser() {}

    /**
     * Parses limits.
     *
     * @param text a text such as {@code 10/1s, 1000/1h}
     * @param burst the capacity of each limit; empty for the default of the algorithm
     * @return one limit or more
     * @throws IllegalArgumentException if the text has another form or a value is out of range
     */
    static List<Limit> parse(String text, Algorithm algorithm, Optional<Long> burst) {
        List<Limit> limits = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            String[] sides = part.strip().split("/", -1);
            if (sides.length != 2) {
                throw new IllegalArgumentException(
                        "\"" + part.strip() + "\" is not a limit: use <permits>/<duration>, for example 100/1m");
            }
            long permits = permits(sides[0].strip());
            Duration window = Durations.parse(sides[1].strip());
            limits.add(
                    burst.isPresent()
                            ? Limit.of(algorithm, permits, window, burst.get())
                            : Limit.of(algorithm, permits, window));
        }
        return limits;
    }

    private static long permits(String text) {
        if (!text.matches("\\d{1,15}") || Long.parseLong(text) > Limit.MAX_PERMITS) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a number of permits: use a whole number from 0 to " + Limit.MAX_PERMITS);
        }
        return Long.parseLong(text);
    }
}
