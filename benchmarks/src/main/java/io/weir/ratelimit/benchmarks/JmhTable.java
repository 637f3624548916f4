// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.benchmarks.report.Figure;
import io.weir.ratelimit.benchmarks.report.Table;
import io.weir.ratelimit.benchmarks.report.Trial;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** A program that runs JMH benchmarks, and prints a table with a row per benchmark and a column per value of a parameter. */
public final class JmhTable {
    private static final String BYTES = "gc.alloc.rate.norm";
    private static final String REFERENCE = "off";

    private JmhTable() {}

    /**
     * Prints the average times, and the figures of what each value adds to the value {@code off}.
     *
     * @param arguments the benchmarks as a regular expression, the parameter of the columns, and optionally the number of threads
     * @throws RunnerException if JMH fails
     */
    public static void main(String... arguments) throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include(arguments[0])
                .addProfiler(GCProfiler.class)
                .verbosity(VerboseMode.SILENT)
                .forks(Trial.or(2, 1))
                .warmupIterations(Trial.or(2, 1))
                .warmupTime(TimeValue.milliseconds(Trial.or(500, 50)))
                .measurementIterations(Trial.or(4, 1))
                .measurementTime(TimeValue.milliseconds(Trial.or(500, 50)));
        if (arguments.length > 2) {
            options.threads(Integer.parseInt(arguments[2])).param("metrics", "none");
        }
        print(arguments[1], new Runner(options.build()).run());
    }

    private static void print(String parameter, Collection<RunResult> results) {
        Map<String, Map<String, RunResult>> rows = new LinkedHashMap<>();
        List<String> values = new ArrayList<>();
        for (RunResult result : results) {
            BenchmarkParams params = result.getParams();
            String value = params.getParam(parameter);
            if (!values.contains(value)) {
                values.add(value);
            }
            rows.computeIfAbsent(row(params, parameter), row -> new LinkedHashMap<>())
                    .put(value, result);
        }
        List<String> columns = new ArrayList<>(List.of("benchmark, by " + parameter));
        values.forEach(value -> columns.add("`" + value + "`"));
        Table table = Table.of(columns.toArray(String[]::new));
        rows.forEach((row, cells) -> {
            List<String> texts = new ArrayList<>(List.of(row));
            values.forEach(value -> texts.add(
                    Optional.ofNullable(cells.get(value)).map(JmhTable::cell).orElse("-")));
            table.row(texts.toArray());
            addedBy(row, cells).forEach(Figure::print);
        });
        table.print();
    }

    private static List<Figure> addedBy(String row, Map<String, RunResult> cells) {
        RunResult reference = cells.get(REFERENCE);
        if (reference == null) {
            return List.of();
        }
        double off = reference.getPrimaryResult().getScore();
        return cells.entrySet().stream()
                .map(cell -> new Figure(
                        row.replace("`", "") + " " + cell.getKey(),
                        cell.getValue().getPrimaryResult().getScore() - off))
                .toList();
    }

    /** Returns the name of the method and the other parameters. */
    private static String row(BenchmarkParams params, String parameter) {
        String method = params.getBenchmark();
        StringBuilder row = new StringBuilder("`" + method.substring(method.lastIndexOf('.') + 1) + "`");
        for (String key : params.getParamsKeys()) {
            if (!key.equals(parameter) && !key.equals("metrics")) {
                row.append(", `").append(params.getParam(key)).append('`');
            }
        }
        return row.toString();
    }

    private static String cell(RunResult result) {
        Result<?> time = result.getPrimaryResult();
        Result<?> allocated = result.getSecondaryResults().get(BYTES);
        double bytes = allocated == null ? Double.NaN : allocated.getScore();
        return String.format(
                Locale.ROOT, "%,.0f ± %,.0f %s, %,.0f bytes", time.getScore(), time.getScoreError(), unit(time), bytes);
    }

    private static String unit(Result<?> time) {
        return time.getScoreUnit().replace("/op", "");
    }
}
