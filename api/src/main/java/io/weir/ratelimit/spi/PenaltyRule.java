// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The rule by which rejections of a key lead to a penalty: a block that is longer each time.
 *
 * <p>The rejections are counted in a fixed window that starts at the first one. The rejection that reaches the number blocks the key.
 * Rejections of a blocked key are not counted. The penalties of a key are forgotten after a time without a block as long as the longest
 * block.
 *
 * @param rejections the number of rejections that leads to a penalty, 1 to {@link #MAX_REJECTIONS}
 * @param window the window in which they are counted, whole milliseconds from 1 ms to {@link Limit#MAX_WINDOW}
 * @param first the length of the first block, from 1 ms
 * @param factor by which each further block is longer, 1 to {@link #MAX_FACTOR}
 * @param longest the longest block, at least the first one and at most {@link #MAX_LONGEST}
 */
public record PenaltyRule(long rejections, Duration window, Duration first, int factor, Duration longest) {
    /** The greatest number of rejections. */
    public static final long MAX_REJECTIONS = 1_000_000_000;

    /** The greatest factor. */
    public static final int MAX_FACTOR = 100;

    /** The greatest length of a penalty. The penalties of a key are kept for twice this time. */
    public static final Duration MAX_LONGEST = Duration.ofDays(30);

    private static final Duration MILLISECOND = Duration.ofMillis(1);

    /** Checks the ranges. */
    public PenaltyRule {
        if (rejections < 1 || rejections > MAX_REJECTIONS) {
            throw new IllegalArgumentException("the rejections are from 1 to " + MAX_REJECTIONS);
        }
        if (window.compareTo(MILLISECOND) < 0
                || window.compareTo(Limit.MAX_WINDOW) > 0
                || window.toNanos() % 1_000_000 != 0) {
            throw new IllegalArgumentException("the window is from 1 ms to 366 days");
        }
        if (factor < 1 || factor > MAX_FACTOR) {
            throw new IllegalArgumentException("the factor is from 1 to " + MAX_FACTOR);
        }
        if (first.compareTo(MILLISECOND) < 0 || first.compareTo(longest) > 0 || longest.compareTo(MAX_LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "the first block is from 1 ms to the longest one, which is at most 30 days");
        }
    }

    /**
     * Returns the length of the first block.
     *
     * @return microseconds
     */
    public long firstMicros() {
        return TimeUnit.MILLISECONDS.toMicros(first.toMillis());
    }

    /**
     * Returns the length of the longest block.
     *
     * @return microseconds
     */
    public long longestMicros() {
        return TimeUnit.MILLISECONDS.toMicros(longest.toMillis());
    }

    /**
     * Returns the rule as text.
     *
     * @return the text, such as {@code 20/1m for 15m, factor 2, max 1d}
     */
    @Override
    public String toString() {
        return rejections + "/" + DurationText.of(window) + " for " + DurationText.of(first) + ", factor " + factor
                + ", max " + DurationText.of(longest);
    }
}
