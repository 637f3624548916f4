// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.benchmarks.report.Figure;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** A run of the comparison, from its options to the printed tables. */
public final class Program {
    private final Options options;
    private final Report report = new Report();
    private final List<String> notes = new ArrayList<>();
    private boolean exact = true;

    /** Creates a run. */
    public Program(Options options) {
        this.options = options;
    }

    /**
     * Runs all scenarios and prints the tables.
     *
     * @param out the output of the tables; progress is written to standard error
     * @return whether the spent permits in Redis equal the allowed decisions, in every scenario of Weir
     */
    public boolean run(PrintStream out) {
        Map<Boolean, List<Scenario>> parts =
                options.selected().stream().collect(Collectors.partitioningBy(Scenario::cluster));
        List<String> machines = new ArrayList<>();
        parts.forEach((cluster, scenarios) -> {
            if (!scenarios.isEmpty()) {
                try (RedisUnderTest redis = cluster ? cluster() : RedisUnderTest.start()) {
                    machines.add(Machine.description(redis));
                    run(redis, scenarios);
                }
            }
        });
        print(out, machines);
        return exact;
    }

    private RedisUnderTest cluster() {
        return options.cluster().isEmpty() ? RedisUnderTest.startCluster() : RedisUnderTest.cluster(options.cluster());
    }

    private void run(RedisUnderTest redis, List<Scenario> scenarios) {
        for (Workload workload :
                scenarios.stream().map(Scenario::workload).distinct().toList()) {
            System.err.println("creating " + workload.keys() + " key(s) for " + workload.name());
            try (Contenders contenders = new Contenders(redis, workload, options)) {
                scenarios.stream()
                        .filter(scenario -> scenario.workload().equals(workload))
                        .forEach(scenario -> run(redis, scenario, contenders));
                contenders.all().forEach(contender -> noteFailures(redis, workload, contender));
            }
        }
    }

    private void run(RedisUnderTest redis, Scenario scenario, Contenders contenders) {
        System.err.println(scenario.name());
        if (scenario.workload().equals(Workload.LIMITED)) {
            report.addAdmissions(
                    scenario,
                    contenders.limiters().stream()
                            .map(contender -> Admission.of(scenario, contender))
                            .toList());
        } else {
            report.add(scenario, new Rounds(redis, scenario.pattern(), options).run(contenders));
        }
        contenders.all().forEach(contender -> check(scenario, contender));
    }

    /** Checks that the spent permits in Redis equal the allowed decisions. Failed calls can have spent permits, too. */
    private void check(Scenario scenario, MeasuredContender contender) {
        OptionalLong spent = contender.limiter().spent();
        if (spent.isEmpty()) {
            return;
        }
        long surplus = spent.getAsLong() - contender.allowed();
        boolean matches = surplus >= 0 && surplus <= contender.failed();
        Workload workload = scenario.workload();
        boolean decided = workload.reachable()
                ? contender.allowed() <= workload.keys() * workload.permits()
                : contender.allowed() == contender.completed();
        exact &= matches && decided;
        notes.add(String.format(
                Locale.ROOT,
                "%s, %s: %s, %,d decisions, %,d allowed, %,d permits spent in Redis",
                scenario.name(),
                contender.limiter().name(),
                matches && decided ? "exact" : "NOT EXACT",
                contender.completed(),
                contender.allowed(),
                spent.getAsLong()));
    }

    private void noteFailures(RedisUnderTest redis, Workload workload, MeasuredContender contender) {
        if (contender.failed() > 0) {
            notes.add(String.format(
                    Locale.ROOT,
                    "%s%s, %s: %,d calls FAILED, also before the counted rounds, the first with %s",
                    redis.isCluster() ? "cluster-" : "",
                    workload.name(),
                    contender.limiter().name(),
                    contender.failed(),
                    contender.firstFailure()));
        }
    }

    private void print(PrintStream out, List<String> machines) {
        machines.forEach(out::println);
        out.printf(
                Locale.ROOT,
                "Medians of %d rounds, %.2f s per contender and round; in brackets the middle half of the rounds.%n%n",
                options.rounds(),
                options.seconds());
        out.println(report.summary());
        out.println(report.admissions());
        out.println(report.traffic());
        out.println(report.details());
        report.figures().forEach(Figure::print);
        notes.forEach(note -> out.println("* " + note));
    }
}
