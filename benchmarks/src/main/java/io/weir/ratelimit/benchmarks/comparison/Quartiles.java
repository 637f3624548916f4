// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * The quartiles of a figure over the rounds.
 *
 * @param low the lower quartile
 * @param median the median
 * @param high the upper quartile
 */
record Quartiles(double low, double median, double high) {

    static Quartiles of(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        return new Quartiles(at(sorted, 0.25), at(sorted, 0.5), at(sorted, 0.75));
    }

    private static double at(double[] sorted, double part) {
        double position = part * (sorted.length - 1);
        int below = (int) position;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
    }

    /** Returns the median and the middle half, such as {@code 1.34 (1.30-1.41)}. */
    String text() {
        return ratio(median) + " (" + ratio(low) + "-" + ratio(high) + ")";
    }

    static String ratio(double value) {
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.1f", value);
    }
}
