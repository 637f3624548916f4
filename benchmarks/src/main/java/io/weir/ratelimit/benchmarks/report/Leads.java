// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The claims about the best peer. A lead is claimed where the middle half of two runs on two days is above 1, and a lead of the peer where
 * both are below 1.
 */
final class Leads {
    /** The prefix of the names of such figures: then the scenario, and after the mark the best peer. */
    static final String PREFIX = "lead: ";

    static final String PEER = " × ";

    private Leads() {}

    static String text(List<History.Run> runs) {
        List<String> columns = new ArrayList<>(List.of("decisions per second, Weir ÷ best peer"));
        runs.forEach(run -> columns.add(run.date() + ", `" + run.commit() + "`"));
        columns.add("claim");
        Table table = Table.of(columns.toArray(String[]::new));
        int leads = 0;
        int behind = 0;
        Set<String> scenarios = scenarios(runs);
        for (String scenario : scenarios) {
            List<Figure> figures = runs.stream()
                    .flatMap(run -> run.find(PREFIX + scenario + PEER).stream())
                    .toList();
            boolean twice = figures.size() == 2;
            boolean leading = twice && figures.stream().allMatch(figure -> figure.low() > 1);
            boolean trailing = twice && figures.stream().allMatch(figure -> figure.high() < 1);
            leads += leading ? 1 : 0;
            behind += trailing ? 1 : 0;
            List<String> cells = new ArrayList<>(List.of(scenario));
            runs.forEach(run -> cells.add(
                    run.find(PREFIX + scenario + PEER).map(Leads::cell).orElse("-")));
            cells.add(leading ? "**Weir leads**" : trailing ? "the peer leads" : twice ? "none" : "none, one run");
            table.row(cells.toArray());
        }
        if (runs.size() < 2) {
            return "The figures are of fewer than two runs, so no lead is claimed.\n\n" + table.text();
        }
        return String.format(
                "Weir leads the best peer in %d of %d cells, and the best peer leads in %d.%n%n%s",
                leads, scenarios.size(), behind, table.text());
    }

    private static String cell(Figure figure) {
        String name = figure.name();
        return String.format(
                Locale.ROOT,
                "%s (%s to %s)%s",
                Figure.number(figure.middle()),
                Figure.number(figure.low()),
                Figure.number(figure.high()),
                name.substring(name.indexOf(PEER)));
    }

    private static Set<String> scenarios(List<History.Run> runs) {
        Set<String> scenarios = new LinkedHashSet<>();
        runs.forEach(run -> run.figures().stream()
                .map(Figure::name)
                .filter(name -> name.startsWith(PREFIX))
                .forEach(name -> scenarios.add(name.substring(PREFIX.length(), name.indexOf(PEER)))));
        return scenarios;
    }
}
