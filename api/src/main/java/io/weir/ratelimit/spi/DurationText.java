// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.time.Duration;

/** The syntax of durations in configuration. */
final class DurationText {
    private DurationText() {}

    /** Returns a duration in the largest unit that divides it, such as {@code 1m}. */
    static String of(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 86_400_000 == 0) {
            return millis / 86_400_000 + "d";
        }
        if (millis % 3_600_000 == 0) {
            return millis / 3_600_000 + "h";
        }
        if (millis % 60_000 == 0) {
            return millis / 60_000 + "m";
        }
        return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
    }
}
