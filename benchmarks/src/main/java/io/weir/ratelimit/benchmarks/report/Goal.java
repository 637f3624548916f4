// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * A goal for a figure.
 *
 * @param text what a reader sees
 * @param part the part that measures it
 * @param figure the beginning of the name of the figure
 * @param value the value of the figure
 * @param atLeast whether the bound is the least value instead of the greatest
 * @param bound the bound
 * @param unit the unit with a space before it, or an empty text
 * @param runs the number of runs that must meet it: a lead needs two
 */
record Goal(
        String text,
        String part,
        String figure,
        ToDoubleFunction<Figure> value,
        boolean atLeast,
        double bound,
        String unit,
        int runs) {
    private static final String KEYS = "keys on Redis: ";

    static final List<Goal> ALL = List.of(
            atMost("a decision in process, one caller, × Bucket4j", "local", "`none`, one caller: ratio", 2, ""),
            atMost("the same, allocated", "local", "`none`, one caller: bytes", 200, " bytes"),
            atLeast(
                    "decisions/s, many keys, 256 in flight, × floor",
                    "growth",
                    KEYS + "decisions/s, 256 in flight",
                    3.6),
            atMost(
                    "Redis CPU, the same, × floor",
                    "growth",
                    KEYS + "processor of Redis per decision, 256 in flight, × the floor",
                    0.4,
                    ""),
            leads("many keys, 16 threads"),
            leads("many keys, cluster, 64 threads"),
            atMost("metrics of MicroProfile, added to a decision in process", "observed", "untraced mp", 500, " ns"),
            atMost("metrics of OpenTelemetry, added to a decision in process", "observed", "untraced otel", 500, " ns"),
            new Goal(
                    "a runtime change on the last of five instances, longest",
                    "changes",
                    "the last of the processes has applied it",
                    Figure::high,
                    false,
                    1_000,
                    " ms",
                    1));

    private static Goal atMost(String text, String part, String figure, double bound, String unit) {
        return new Goal(text, part, figure, Figure::middle, false, bound, unit, 1);
    }

    private static Goal atLeast(String text, String part, String figure, double bound) {
        return new Goal(text, part, figure, Figure::middle, true, bound, "", 1);
    }

    private static Goal leads(String scenario) {
        return new Goal(
                "Weir ÷ best peer, " + scenario + ", lower quartile",
                "comparison",
                Leads.PREFIX + scenario + Leads.PEER,
                Figure::low,
                true,
                1,
                "",
                2);
    }

    /** Returns the row of the goal, beside the figure of the last run, or beside the worse one of two runs. */
    Object[] row(List<History.Run> all) {
        List<Double> measured = all.subList(Math.max(0, all.size() - runs), all.size()).stream()
                .flatMap(run -> run.find(figure).stream())
                .map(value::applyAsDouble)
                .sorted(atLeast ? Comparator.naturalOrder() : Comparator.reverseOrder())
                .toList();
        Optional<Double> worst = measured.stream().findFirst();
        String met = worst.map(number -> isMet(number) ? "yes" : "**missed**").orElse("-");
        return new Object[] {
            text,
            String.format(Locale.ROOT, "%s %s%s", atLeast ? "≥" : "≤", plain(bound), unit),
            worst.map(number -> Figure.number(number) + unit).orElse("not measured"),
            met.equals("yes") && measured.size() < runs ? "in one run of two" : met,
            worst.isEmpty() ? "-" : all.get(all.size() - 1).origin()
        };
    }

    private boolean isMet(double number) {
        return atLeast ? number >= bound : number <= bound;
    }

    private static String plain(double number) {
        return number == Math.rint(number) ? String.format(Locale.ROOT, "%,.0f", number) : String.valueOf(number);
    }
}
