// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The charts of the documents, each from the last run of a part.
 *
 * @param name the name of the block and of the file
 * @param part the part with the figures
 * @param alternative the text for readers who do not see the chart
 * @param chart the chart of a run
 */
record Charts(String name, String part, String alternative, Function<History.Run, Chart> chart) {
    /** The prefixes of the names of the figures of a panel, and the titles of the panels. */
    private static final Map<String, String> FIELD = ordered(
            "many keys, 1 thread: ", "1 thread",
            "many keys, 16 threads: ", "16 threads",
            "many keys, 64 threads: ", "64 threads",
            "many keys, 256 in flight: ", "256 in flight");

    private static final Map<String, String> REQUEST = ordered(
            "server: ", "processor of the server, µs",
            "median: ", "median latency, µs");

    /** Parts of the names of figures of growth, and the labels of their bars. */
    private static final Map<String, String> GROWTH = ordered(
            "policies in configuration: start, ms", "start, 100 × policies",
            "policies of a request by its path", "a request by its path, 100 × policies",
            "policies on one request, in process", "in process, 50 × policies of a request",
            "policies on one request, Redis: processor of Redis per decision, 16 threads",
                    "Redis CPU, 50 × policies of a request",
            "limits of one policy, in process", "in process, 8 × limits",
            "limits of one policy, Redis: processor of Redis per decision, 16 threads", "Redis CPU, 8 × limits",
            "stored keys: p99 of a decision", "p99 in process, 100 × keys",
            "new keys without a place: p99 of a decision", "p99 of new keys, 100 × full table",
            "processor of Redis per decision, 256 in flight, µs", "Redis CPU, 10,000 × keys",
            "bytes of `used_memory` per key", "bytes per key, 10,000 × keys");

    static final List<Charts> ALL = List.of(
            new Charts(
                    "field",
                    "comparison",
                    "Bars of decisions per second, relative to one empty script call per decision, for Weir and each peer",
                    run -> panels("Decisions per second × floor, 10,000 keys; longer is better", run, FIELD, true)),
            new Charts(
                    "growth",
                    "growth",
                    "Bars of the growth of each cost from the smallest to the largest size, on a logarithmic scale",
                    Charts::growth),
            new Charts(
                    "request",
                    "request",
                    "Bars of the processor time of the server and of the median latency, for limited and exempt requests",
                    run -> panels("A request on Open Liberty; shorter is better", run, REQUEST, false)));

    private static Map<String, String> ordered(String... entries) {
        Map<String, String> map = new LinkedHashMap<>();
        for (int i = 0; i < entries.length; i += 2) {
            map.put(entries[i], entries[i + 1]);
        }
        return map;
    }

    /** Returns a chart with a panel per prefix. Rows are sorted by the last panel if they are a ranking. */
    private static Chart panels(String title, History.Run run, Map<String, String> prefixes, boolean ranking) {
        List<String> rows = new ArrayList<>();
        prefixes.keySet()
                .forEach(prefix -> run.figures().stream()
                        .map(Figure::name)
                        .filter(name -> name.startsWith(prefix))
                        .map(name -> name.substring(prefix.length()))
                        .filter(name -> !rows.contains(name))
                        .forEach(rows::add));
        if (ranking) {
            String last = List.copyOf(prefixes.keySet()).get(prefixes.size() - 1);
            rows.sort(Comparator.comparingDouble(
                            (String row) -> bar(run, last + row).middle())
                    .reversed());
        }
        List<Chart.Panel> panels = new ArrayList<>();
        prefixes.forEach((prefix, name) -> panels.add(new Chart.Panel(
                name, rows.stream().map(row -> bar(run, prefix + row)).toList())));
        return new Chart(title, rows, panels, false);
    }

    private static Figure bar(History.Run run, String name) {
        return run.figures().stream()
                .filter(figure -> figure.name().equals(name))
                .findFirst()
                .orElse(new Figure(name, Double.NaN));
    }

    private static Chart growth(History.Run run) {
        List<Figure> bars = new ArrayList<>();
        GROWTH.forEach((name, label) -> run.figures().stream()
                .filter(figure -> figure.name().contains(name))
                .findFirst()
                .ifPresent(figure -> bars.add(new Figure(label, figure.high() / figure.low()))));
        return new Chart(
                "Cost at the largest size ÷ cost at the smallest; shorter is better",
                bars.stream().map(Figure::name).toList(),
                List.of(new Chart.Panel("logarithmic, from 1", bars)),
                true);
    }

    Optional<String> svg(Optional<History.Run> run) {
        return run.map(last -> chart.apply(last).svg());
    }

    String file() {
        return "docs/figures/" + name + ".svg";
    }
}
