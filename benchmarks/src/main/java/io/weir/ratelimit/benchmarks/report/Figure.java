// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import java.util.Locale;

/**
 * A figure that goals, claims and charts use.
 *
 * @param name what was measured
 * @param low the lower quartile, or the figure at the smallest size
 * @param middle the median, or the figure at the middle size
 * @param high the upper quartile, or the figure at the largest size
 */
public record Figure(String name, double low, double middle, double high) {
    private static final String MARK = "figure,";

    /** Creates a figure without quartiles. */
    public Figure(String name, double value) {
        this(name, value, value, value);
    }

    /** Prints the figure to standard output, where the report reads it. */
    public void print() {
        System.out.println(MARK + text());
    }

    static boolean isIn(String line) {
        return line.startsWith(MARK);
    }

    static Figure read(String line) {
        return of(line.substring(MARK.length()));
    }

    static Figure of(String text) {
        String[] parts = text.split(",", 4);
        return new Figure(
                parts[3], Double.parseDouble(parts[0]), Double.parseDouble(parts[1]), Double.parseDouble(parts[2]));
    }

    String text() {
        return String.format(Locale.ROOT, "%s,%s,%s,%s", number(low), number(middle), number(high), name);
    }

    /** Returns a number with the digits that a reader wants. */
    static String number(double value) {
        if (!Double.isFinite(value)) {
            return "NaN";
        }
        double absolute = Math.abs(value);
        return String.format(Locale.ROOT, absolute < 10 ? "%.2f" : absolute < 100 ? "%.1f" : "%.0f", value);
    }
}
