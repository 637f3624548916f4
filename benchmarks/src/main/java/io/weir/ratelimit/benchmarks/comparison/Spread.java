// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * The middle of what the rounds showed.
 *
 * @param low a quarter of the rounds is below
 * @param median half of them is
 * @param high three quarters are
 */
record Spread(double low, double median, double high) {

    static Spread of(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        return new Spread(at(sorted, 0.25), at(sorted, 0.5), at(sorted, 0.75));
    }

    private static double at(double[] sorted, double part) {
        double place = part * (sorted.length - 1);
        int below = (int) place;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    }

    /** The median and the middle half, such as {@code 1.34 (1.30-1.41)}. */
    String text() {
        return ratio(median) + " (" + ratio(low) + "-" + ratio(high) + ")";
    }

    static String ratio(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.1f", value);
    }
}
