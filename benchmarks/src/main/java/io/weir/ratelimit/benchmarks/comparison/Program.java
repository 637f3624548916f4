// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/** A run from its options to the printed tables. */
public final class Program {
    private final Options options;
    private final Report report = new Report();
    private final List<String> notes = new ArrayList<>();
    private boolean exact = true;

    /** A run that has not begun. */
    public Program(Options options) {
        this.options = options;
    }

    /**
     * Runs all scenarios and prints the tables.
     *
     * @param out where they go; progress goes to standard error
     * @return whether what Redis holds is what was admitted, in every scenario of Weir
     */
    public boolean run(PrintStream out) {
        try (Store store = options.cluster().isEmpty() ? Store.own() : Store.cluster(options.cluster())) {
            String machine = Machine.description(store);
            for (Workload workload :
                    options.chosen().stream().map(Scenario::workload).distinct().toList()) {
                System.err.println("making " + workload.keys() + " key(s) for " + workload.name());
                try (Entrants entrants = new Entrants(store, workload, options)) {
                    options.chosen().stream()
                            .filter(scenario -> scenario.workload().equals(workload))
                            .forEach(scenario -> run(store, scenario, entrants));
                    entrants.all().forEach(entrant -> noteFailures(workload, entrant));
                }
            }
            print(out, machine);
        }
        return exact;
    }

    private void run(Store store, Scenario scenario, Entrants entrants) {
        System.err.println(scenario.name());
        report.add(scenario, new Race(store, scenario.drive(), options).run(entrants));
        entrants.all().forEach(entrant -> check(scenario, entrant));
    }

    /** What Redis holds as spent is what was admitted; each of the calls that failed may have spent as well. */
    private void check(Scenario scenario, Entrant entrant) {
        OptionalLong spent = entrant.contender().spent();
        if (spent.isEmpty()) {
            return;
        }
        long surplus = spent.getAsLong() - entrant.admitted();
        boolean held = surplus >= 0 && surplus <= entrant.failed();
        boolean answered = scenario.workload().refused()
                ? entrant.admitted() <= scenario.workload().keys()
                : entrant.admitted() == entrant.answered();
        exact &= held && answered;
        notes.add(String.format(
                Locale.ROOT,
                "%s, %s: %s, %,d decisions, %,d admitted, %,d permits spent in Redis",
                scenario.name(),
                entrant.contender().name(),
                held && answered ? "exact" : "NOT EXACT",
                entrant.answered(),
                entrant.admitted(),
                spent.getAsLong()));
    }

    private void noteFailures(Workload workload, Entrant entrant) {
        if (entrant.failed() > 0) {
            notes.add(String.format(
                    Locale.ROOT,
                    "%s, %s: %,d calls FAILED, the first with %s",
                    workload.name(),
                    entrant.contender().name(),
                    entrant.failed(),
                    entrant.firstFailure()));
        }
    }

    private void print(PrintStream out, String machine) {
        out.println(machine);
        out.printf(
                Locale.ROOT,
                "Medians of %d rounds, %.2f s per contender and round; in brackets the middle half of the rounds.%n%n",
                options.rounds(),
                options.seconds());
        out.println(report.summary());
        out.println(report.details());
        notes.forEach(note -> out.println("* " + note));
    }
}
