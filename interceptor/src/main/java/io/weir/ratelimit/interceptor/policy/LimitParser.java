// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The limits of configuration: {@code <permits>/<duration>}, several separated by commas. */
public final class LimitParser {
    private LimitParser() {}

    /**
     * Reads limits.
     *
     * @param text such as {@code 10/1s, 1000/1h}
     * @param algorithm how they count
     * @param burst the capacity of each, if it is not the algorithm's default
     * @return one limit or more
     * @throws IllegalArgumentException if the text has another form or a value is out of range
     */
    public static List<Limit> parse(String text, Algorithm algorithm, Optional<Long> burst) {
        List<Limit> limits = new ArrayList<>();
        for (String one : text.split(",", -1)) {
            String[] sides = one.strip().split("/", -1);
            if (sides.length != 2) {
                throw new IllegalArgumentException(
                        "\"" + one.strip() + "\" is no limit: write <permits>/<duration>, such as 100/1m");
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

    /**
     * Reads a number of permits.
     *
     * @param text a whole number
     * @return 0 to {@link Limit#MAX_PERMITS}
     * @throws IllegalArgumentException if it is something else
     */
    public static long permits(String text) {
        if (!text.matches("\\d{1,15}") || Long.parseLong(text) > Limit.MAX_PERMITS) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is no number of permits: write a whole number from 0 to " + Limit.MAX_PERMITS);
        }
        return Long.parseLong(text);
    }
}
