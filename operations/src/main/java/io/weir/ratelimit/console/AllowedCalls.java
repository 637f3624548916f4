// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.core.config.ConfigReader;
import io.weir.ratelimit.spi.CalendarPeriod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The greatest number of calls that a limit such as {@code 50/1m} allows one key in a period, whatever their order, if each call costs one
 * permit or more. The text of a block is empty.
 */
record AllowedCalls(String limit, long calls) {
    /** The calls of a blocked key. */
    static final AllowedCalls NONE = new AllowedCalls("", 0);

    private static final double MAX = 1L << 53;

    /**
     * Returns the allowed calls of valid limits such as {@code 10/1s, 1000/month}; empty if the text has another form.
     *
     * @param burst the capacity of buckets; null for the default
     */
    static List<AllowedCalls> of(String limits, String algorithm, @Nullable String burst, Duration period) {
        List<AllowedCalls> allowed = new ArrayList<>();
        try {
            for (String limit : limits.split(",", -1)) {
                String[] sides = limit.strip().split("/", -1);
                double permits = Long.parseLong(sides[0].strip());
                double windows =
                        (double) period.toMillis() / window(sides[1].strip()).toMillis();
                double calls;
                if (permits == 0) {
                    calls = 0;
                } else if (algorithm.endsWith("-bucket")) {
                    double capacity = burst != null ? Long.parseLong(burst.strip()) : permits;
                    calls = capacity + Math.ceil(permits * windows);
                } else {
                    // A period touches one window more than it has room for.
                    calls = permits * (Math.ceil(windows) + 1);
                }
                allowed.add(new AllowedCalls(limit.strip(), (long) Math.min(MAX, calls)));
            }
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            return List.of();
        }
        return allowed;
    }

    private static Duration window(String text) {
        Duration window = CalendarPeriod.Unit.named(text)
                .map(CalendarPeriod.Unit::length)
                .orElseGet(() -> ConfigReader.duration(text));
        if (window.isZero()) {
            throw new IllegalArgumentException("a window must not be empty");
        }
        return window;
    }
}
