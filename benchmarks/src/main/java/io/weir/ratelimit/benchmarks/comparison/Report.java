// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.benchmarks.report.Figure;
import io.weir.ratelimit.benchmarks.report.Table;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The tables of the results in Markdown. */
final class Report {
    private static final String PEER = " × ";

    private final Map<Scenario, List<Result>> results = new LinkedHashMap<>();
    private final Map<Scenario, List<Admission>> admissions = new LinkedHashMap<>();

    void add(Scenario scenario, List<Result> all) {
        results.put(scenario, all);
    }

    void addAdmissions(Scenario scenario, List<Admission> all) {
        admissions.put(scenario, all);
    }

    /**
     * Returns a table per workload, with one row per contender: decisions per second, processor time of Redis and of the client per
     * decision, relative to the floor. The last rows compare Weir with the best peer.
     */
    String summary() {
        Map<String, List<Scenario>> groups = results.keySet().stream()
                .collect(Collectors.groupingBy(Scenario::group, LinkedHashMap::new, Collectors.toList()));
        StringBuilder out = new StringBuilder();
        groups.forEach((group, scenarios) -> out.append(table(group, scenarios)).append('\n'));
        return out.toString();
    }

    private String table(String group, List<Scenario> scenarios) {
        StringBuilder out = new StringBuilder("| " + group + " |");
        scenarios.forEach(scenario -> out.append(' ').append(scenario.callers()).append(" |"));
        out.append("\n|---|").append("---|".repeat(scenarios.size())).append('\n');
        for (String name : names(scenarios)) {
            row(out, name, scenarios, all -> find(all, name).map(Report::cell).orElse("-"));
        }
        row(out, "Weir ÷ best peer", scenarios, all -> comparedWithBestPeer(all, result -> !result.holdsPermits()));
        if (all(scenarios.get(0)).stream().anyMatch(Result::holdsPermits)) {
            row(out, "the same, permits in memory", scenarios, all -> comparedWithBestPeer(all, Result::holdsPermits));
        }
        return out.toString();
    }

    private interface Cell {
        String of(List<Result> all);
    }

    private void row(StringBuilder out, String name, List<Scenario> scenarios, Cell cell) {
        out.append("| ").append(name).append(" |");
        scenarios.forEach(
                scenario -> out.append(' ').append(cell.of(all(scenario))).append(" |"));
        out.append('\n');
    }

    private static String cell(Result result) {
        if (result.name().equals(Floor.NAME)) {
            return String.format(
                    Locale.ROOT,
                    "%,.0f/s, %.1f µs, %.1f µs",
                    result.perSecond().median(),
                    result.cpuMicros().median(),
                    result.clientCpuMicros().median());
        }
        return Stream.of(result.decisions(), result.cpu(), result.clientCpu())
                .map(figure -> Quartiles.ratio(figure.median()))
                .collect(Collectors.joining(", "));
    }

    /** Returns the decisions per second of the first contender of Weir, relative to those of the best peer of its kind. */
    static String comparedWithBestPeer(List<Result> all, Predicate<Result> kind) {
        return lead(all, kind)
                .map(lead -> lead.ratio().text() + PEER + lead.peer())
                .orElse("-");
    }

    private record Lead(Quartiles ratio, String peer) {}

    private static Optional<Lead> lead(List<Result> all, Predicate<Result> kind) {
        Optional<Result> best = all.stream()
                .filter(kind)
                .filter(result -> !isWeir(result) && !isFloor(result))
                .max(Comparator.comparingDouble(result -> result.decisions().median()));
        Optional<Result> weir = all.stream().filter(kind).filter(Report::isWeir).findFirst();
        return best.flatMap(peer -> weir.map(own -> new Lead(own.decisionsComparedWith(peer), peer.name())));
    }

    /** Returns the figures of all scenarios: decisions per second relative to the floor, and relative to the best peer. */
    List<Figure> figures() {
        List<Figure> figures = new ArrayList<>();
        results.forEach((scenario, all) -> {
            String name = scenario.group() + ", " + scenario.callers();
            all.forEach(result -> figures.add(figure(name + ": " + result.name(), result.decisions())));
            lead(all, result -> !result.holdsPermits())
                    .ifPresent(lead -> figures.add(figure("lead: " + name + PEER + lead.peer(), lead.ratio())));
            lead(all, Result::holdsPermits)
                    .ifPresent(lead -> figures.add(
                            figure("lead: " + name + ", permits in memory" + PEER + lead.peer(), lead.ratio())));
        });
        return figures;
    }

    private static Figure figure(String name, Quartiles figure) {
        return new Figure(name, figure.low(), figure.median(), figure.high());
    }

    /** Returns a table of network bytes per decision with many keys and one limit, and of the failed calls of all scenarios. */
    String traffic() {
        List<Scenario> shown = results.keySet().stream()
                .filter(scenario -> scenario.group().equals("many keys"))
                .toList();
        if (shown.isEmpty()) {
            return "";
        }
        List<String> columns = new ArrayList<>(List.of("network bytes per decision, many keys"));
        shown.forEach(scenario -> columns.add(scenario.callers()));
        columns.add("failed calls of all scenarios");
        Table table = Table.of(columns.toArray(String[]::new));
        for (String name : names(shown)) {
            List<String> cells = new ArrayList<>(List.of(name));
            shown.forEach(scenario -> cells.add(find(all(scenario), name)
                    .map(result ->
                            String.format(Locale.ROOT, "%.0f", result.bytes().median()))
                    .orElse("-")));
            long failed = results.values().stream()
                    .flatMap(all -> find(all, name).stream())
                    .mapToLong(Result::failed)
                    .sum();
            cells.add(String.format(Locale.ROOT, "%,d", failed));
            table.row(cells.toArray());
        }
        return table.text();
    }

    private static boolean isWeir(Result result) {
        return result.name().startsWith("Weir");
    }

    private static boolean isFloor(Result result) {
        return result.name().endsWith(Floor.NAME);
    }

    /** Returns a table with one row per scenario and contender: medians with the middle half, bytes, failures and latencies. */
    String details() {
        StringBuilder out = new StringBuilder("""
                | scenario | contender | decisions/s × floor | Redis CPU × floor | Redis CPU, µs | client CPU, µs | network bytes per decision | p50, µs | p99, µs | failed calls |
                |---|---|---|---|---|---|---|---|---|---|
                """);
        results.forEach((scenario, all) -> all.forEach(result -> out.append(String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s | %.2f | %.2f | %.0f | %.0f | %.0f | %,d |%n",
                scenario.title(),
                result.name(),
                result.decisions().text(),
                result.cpu().text(),
                result.cpuMicros().median(),
                result.clientCpuMicros().median(),
                result.bytes().median(),
                result.latencyMicros(0.5),
                result.latencyMicros(0.99),
                result.failed()))));
        return out.toString();
    }

    /** Returns a table with one row per contender: allowed calls relative to the limit, and in brackets failed calls. */
    String admissions() {
        if (admissions.isEmpty()) {
            return "";
        }
        StringBuilder out = new StringBuilder("| allowed calls ÷ limit |");
        admissions
                .keySet()
                .forEach(scenario -> out.append(' ').append(scenario.title()).append(" |"));
        out.append("\n|---|").append("---|".repeat(admissions.size())).append('\n');
        List<Admission> first = admissions.values().iterator().next();
        for (int i = 0; i < first.size(); i++) {
            out.append("| ").append(first.get(i).contender()).append(" |");
            for (List<Admission> all : admissions.values()) {
                Admission admission = all.get(i);
                out.append(String.format(Locale.ROOT, " %.3f (%,d) |", admission.ratio(), admission.failed()));
            }
            out.append('\n');
        }
        return out.toString();
    }

    /** Returns the contenders in the order of their first appearance. */
    private List<String> names(List<Scenario> scenarios) {
        List<Result> all = new ArrayList<>();
        scenarios.forEach(scenario -> all.addAll(all(scenario)));
        return all.stream().map(Result::name).distinct().toList();
    }

    private List<Result> all(Scenario scenario) {
        return results.getOrDefault(scenario, List.of());
    }

    private static Optional<Result> find(List<Result> all, String name) {
        return all.stream().filter(result -> result.name().equals(name)).findFirst();
    }
}
