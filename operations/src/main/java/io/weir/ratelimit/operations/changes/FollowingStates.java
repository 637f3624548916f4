// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.core.snapshot.ValueLayer.Findings;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The check of the states that follow a change or an undo: the one at once, and the one after each later end of a change of the same
 * policy, in the order of these ends. Only problems that these states would not have without the change are reported.
 */
final class FollowingStates {
    private final ChangeTarget target;
    private final ChangeState before;
    private final ChangeState after;
    private final RuntimeChange change;

    private record Found(ConfigurationProblem problem, long override) {}

    private FollowingStates(ChangeTarget target, ChangeState before, ChangeState after, RuntimeChange change) {
        this.target = target;
        this.before = before;
        this.after = after;
        this.change = change;
    }

    /** Returns the problems of a change. Those of its own values at once are the ones of a deployment. */
    static List<ConfigurationProblem> problems(
            ChangeTarget target, ChangeState before, ChangeState after, RuntimeChange change) {
        return change.subject().kind() == Kind.BLOCK
                ? List.of()
                : new FollowingStates(target, before, after, change).problems();
    }

    private List<ConfigurationProblem> problems() {
        NavigableMap<Instant, Set<Long>> ends = ends();
        List<ConfigurationProblem> problems = new ArrayList<>();
        Set<Found> known = found(change.at(), firstAfter(ends, change.at()));
        known.stream().filter(each -> !isOfConfigurationOnly(each)).forEach(each -> problems.add(atOnce(each)));
        ends.forEach((end, ended) -> {
            for (Found each : found(end, firstAfter(ends, end))) {
                if (known.add(each)) {
                    problems.add(later(each, end, ended));
                }
            }
        });
        return List.copyOf(problems);
    }

    /** Returns the later ends of changes of the policy, with the numbers of these changes. */
    private NavigableMap<Instant, Set<Long>> ends() {
        NavigableMap<Instant, Set<Long>> ends = new TreeMap<>();
        for (RuntimeChange each : after.current(change.at())) {
            if (each.subject().kind() == Kind.POLICY
                    && each.subject().policy().equals(change.subject().policy())) {
                each.until()
                        .ifPresent(end -> ends.computeIfAbsent(end, first -> new TreeSet<>())
                                .add(each.number()));
            }
        }
        return ends;
    }

    private static Instant firstAfter(NavigableMap<Instant, Set<Long>> ends, Instant instant) {
        Instant next = ends.higherKey(instant);
        return next == null ? Instant.MAX : next;
    }

    /** Finds the problems of a period in which no change of the policy ends. */
    private Set<Found> found(Instant from, Instant to) {
        Set<Found> found = in(after, from, to);
        if (!found.isEmpty()) {
            found.removeAll(in(before, from, to));
        }
        return found;
    }

    private Set<Found> in(ChangeState state, Instant from, Instant to) {
        Findings findings = target.check(
                new PolicyValues(state.policies(from)),
                state.overrides(change.subject().policy(), from, to));
        Set<Found> found = new LinkedHashSet<>();
        findings.all().forEach(problem -> found.add(new Found(problem, 0)));
        new TreeMap<>(findings.overrides())
                .forEach((number, problems) -> problems.forEach(problem -> found.add(new Found(problem, number))));
        return found;
    }

    /** Tests whether an undo only shows a problem of the configuration, whose previous values apply. It must not prevent the undo. */
    private boolean isOfConfigurationOnly(Found found) {
        return change.isUndo() && found.override() == 0 && others().isEmpty();
    }

    private ConfigurationProblem atOnce(Found found) {
        ConfigurationProblem problem = found.problem();
        if (found.override() != 0 && found.override() != change.number()) {
            return MESSAGES.problem("WEIR-456", problem.place(), problem.value(), found.override(), text(problem));
        }
        return change.isUndo()
                ? MESSAGES.problem(
                        "WEIR-455.undo",
                        problem.place(),
                        problem.value(),
                        change.undoes().orElse(0),
                        text(problem),
                        others())
                : problem;
    }

    /** Returns the numbers of the changes of the policy that would stay in force. */
    private Set<Long> others() {
        Set<Long> others = new TreeSet<>();
        after.policies(change.at())
                .getOrDefault(change.subject().policy(), Map.of())
                .values()
                .forEach(each -> others.add(each.number()));
        return others;
    }

    private ConfigurationProblem later(Found found, Instant end, Set<Long> ended) {
        ConfigurationProblem problem = found.problem();
        boolean ofOther = found.override() != 0 && found.override() != change.number();
        return MESSAGES.problem(
                "WEIR-455",
                problem.place(),
                problem.value(),
                end,
                ended,
                ofOther ? "runtime change " + found.override() + ": " + text(problem) : text(problem),
                problem.remedy());
    }

    private static String text(ConfigurationProblem problem) {
        return problem.id() + " " + problem.problem();
    }
}
