// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.benchmarks.report.Figure;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A row of the table of growth: a figure at three sizes.
 *
 * @param sizes what grows, with its three sizes
 * @param measure the figure and its unit
 * @param values the figure at each size; NaN if it is not measured at a size
 */
public record GrowthRow(String sizes, String measure, List<Double> values) {
    private static final String HEADER =
            "| sizes | figure | smallest | middle | largest | largest / smallest |\n|---|---|---|---|---|---|";

    /** Returns a Markdown table. */
    public static String table(List<GrowthRow> rows) {
        return rows.stream().map(GrowthRow::text).collect(Collectors.joining("\n", HEADER + "\n", "\n"));
    }

    /** Returns the row as a figure of three sizes. */
    public Figure figure() {
        String name = sizes.contains("keys on Redis") ? "keys on Redis: " + measure : sizes + ": " + measure;
        return new Figure(name, values.get(0), values.get(1), values.get(2));
    }

    private String text() {
        return "| " + sizes + " | " + measure + " | "
                + values.stream().map(GrowthRow::number).collect(Collectors.joining(" | "))
                + " | " + number(values.get(values.size() - 1) / values.get(0)) + " |";
    }

    private static String number(double value) {
        if (!Double.isFinite(value)) {
            return "-";
        }
        return String.format(Locale.ROOT, value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%,.0f", value);
    }
}
