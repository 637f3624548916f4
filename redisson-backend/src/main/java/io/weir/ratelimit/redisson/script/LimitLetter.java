// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.WindowLimit;

/** The letters of limits in messages and in stored values. They are part of the stored format and never change. */
public final class LimitLetter {
    private static final char CALENDAR = 'c';
    private static final char CONCURRENCY = 'n';

    private LimitLetter() {}

    public static char of(Limit limit) {
        if (limit instanceof WindowLimit window) {
            return of(window.algorithm());
        }
        return limit instanceof CalendarLimit ? CALENDAR : CONCURRENCY;
    }

    public static char of(Algorithm algorithm) {
        return switch (algorithm) {
            case FIXED_WINDOW -> 'f';
            case SLIDING_WINDOW -> 's';
            case SLIDING_LOG -> 'g';
            case TOKEN_BUCKET -> 't';
            case LEAKY_BUCKET -> 'l';
        };
    }
}
