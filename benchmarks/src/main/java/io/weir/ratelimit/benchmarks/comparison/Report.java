// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The tables of the results in Markdown. */
final class Report {
    private final Map<Scenario, List<Result>> results = new LinkedHashMap<>();

    void add(Scenario scenario, List<Result> all) {
        results.put(scenario, all);
    }

    /** Returns a table with one row per scenario: decisions per second and processor time of Redis per decision, relative to the floor. */
    String summary() {
        List<String> names = names();
        StringBuilder out = new StringBuilder("| × floor: decisions/s, Redis CPU per decision | floor |");
        names.forEach(name -> out.append(' ').append(name).append(" |"));
        out.append(" Weir ÷ best peer, decisions/s |\n|---|---|")
                .append("---|".repeat(names.size() + 1))
                .append('\n');
        results.forEach((scenario, all) -> {
            Result floor = all.get(0);
            out.append(String.format(
                    Locale.ROOT,
                    "| %s | %,.0f/s, %.1f µs |",
                    scenario.title(),
                    floor.perSecond().median(),
                    floor.cpuMicros().median()));
            for (String name : names) {
                out.append(' ')
                        .append(find(all, name).map(Report::pair).orElse("-"))
                        .append(" |");
            }
            out.append(' ').append(comparedWithBestPeer(all)).append(" |\n");
        });
        return out.toString();
    }

    private static String pair(Result result) {
        return Quartiles.ratio(result.decisions().median()) + ", "
                + Quartiles.ratio(result.cpu().median());
    }

    private static String comparedWithBestPeer(List<Result> all) {
        Optional<Result> best = all.stream()
                .skip(1)
                .filter(result -> !isWeir(result))
                .max(Comparator.comparingDouble(result -> result.decisions().median()));
        Optional<Result> weir = all.stream().filter(Report::isWeir).findFirst();
        return best.isEmpty() || weir.isEmpty()
                ? "-"
                : weir.get().decisionsComparedWith(best.get()).text() + " × "
                        + best.get().name();
    }

    private static boolean isWeir(Result result) {
        return result.name().startsWith("Weir");
    }

    /** Returns a table with one row per scenario and contender: medians with the middle half, bytes and latencies. */
    String details() {
        StringBuilder out = new StringBuilder("""
                | | contender | decisions/s × floor | Redis CPU × floor | Redis CPU, µs | network bytes per decision | p50, µs | p99, µs |
                |---|---|---|---|---|---|---|---|
                """);
        results.forEach((scenario, all) -> all.forEach(result -> out.append(String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s | %.2f | %.0f | %.0f | %.0f |%n",
                scenario.title(),
                result.name(),
                result.decisions().text(),
                result.cpu().text(),
                result.cpuMicros().median(),
                result.bytes().median(),
                result.latencyMicros(0.5),
                result.latencyMicros(0.99)))));
        return out.toString();
    }

    /** Returns the contenders except the floor, in the order of their first appearance. */
    private List<String> names() {
        return results.values().stream()
                .flatMap(all -> all.stream().skip(1))
                .map(Result::name)
                .distinct()
                .toList();
    }

    private static Optional<Result> find(List<Result> all, String name) {
        return all.stream().filter(result -> result.name().equals(name)).findFirst();
    }
}
