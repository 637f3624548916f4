// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.operations.PolicyView;
import io.weir.ratelimit.operations.changes.ChangeConflictException;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.InvalidChangeException;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** Runtime changes in memory, which change the policies of {@link FakeOperations}. */
final class FakeRuntimeChanges implements RuntimeChanges {
    final FakeOperations operations;
    final List<RuntimeChange> active = new ArrayList<>();
    final List<RuntimeChange> log = new ArrayList<>();
    Optional<RuntimeException> failure = Optional.empty();
    Optional<String> problem = Optional.empty();
    List<Long> withoutPolicy = List.of();
    Map<Long, List<ConfigurationProblem>> notInForce = Map.of();
    boolean shared = true;
    private long last;

    FakeRuntimeChanges(FakeOperations operations) {
        this.operations = operations;
    }

    @Override
    public synchronized View view() {
        return new View(shared, tag(), Optional.of(Instant.EPOCH), active, withoutPolicy, notInForce, problem);
    }

    private String tag() {
        return last == 0 ? "" : last + "-1700000000000";
    }

    @Override
    public synchronized List<ConfigurationProblem> problems(ChangeRequest request) {
        List<ConfigurationProblem> problems = new ArrayList<>(reasonProblems(request.reason()));
        String place = "ratelimit.policies." + request.subject().policy();
        if (policy(request.subject().policy()).isEmpty()) {
            problems.add(
                    new ConfigurationProblem("WEIR-100", place, "", "there is no such policy", "use another name"));
        }
        String limit = request.values().getOrDefault("limit", "1/1s");
        if (!limit.matches("([0-9]+/[0-9]+[smhd](, )?)+")) {
            problems.add(new ConfigurationProblem(
                    "WEIR-111", place + ".limit", limit, "this is not a limit", "write <permits>/<duration>"));
        }
        return problems;
    }

    @Override
    public synchronized List<String> warnings(ChangeRequest request) {
        return request.values().containsKey("enforce-percent")
                        && !"shadow".equals(request.values().get("mode"))
                ? List.of("WEIR-015 enforce-percent has no effect unless mode has a value such as shadow.")
                : List.of();
    }

    private static List<ConfigurationProblem> reasonProblems(String reason) {
        return reason.matches("\\P{Cc}{1,200}")
                ? List.of()
                : List.of(new ConfigurationProblem(
                        "WEIR-140", "reason", reason, "this is no reason", "write 1 to 200 printable characters"));
    }

    private Optional<PolicyView> policy(String name) {
        return operations.policies.stream()
                .filter(policy -> policy.name().equals(name))
                .findFirst();
    }

    @Override
    public synchronized RuntimeChange make(ChangeRequest request, String expectedTag)
            throws InvalidChangeException, ChangeConflictException {
        List<ConfigurationProblem> problems = problems(request);
        if (!problems.isEmpty()) {
            throw new InvalidChangeException(problems);
        }
        check(expectedTag);
        Map<String, String> before = new TreeMap<>();
        policy(request.subject().policy()).orElseThrow().settings().forEach(setting -> {
            String attribute = setting.property().substring(setting.property().lastIndexOf('.') + 1);
            if (request.values().containsKey(attribute)) {
                before.put(attribute, setting.value());
            }
        });
        Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        RuntimeChange change = new RuntimeChange(
                ++last,
                request.subject(),
                request.values(),
                before,
                request.author(),
                request.reason(),
                now,
                request.length().map(now::plus),
                OptionalLong.empty());
        active.add(0, change);
        log.add(0, change);
        set(change, change.values(), "runtime change " + change.number() + " by " + change.author());
        return change;
    }

    private void check(String expectedTag) throws ChangeConflictException {
        failure.ifPresent(thrown -> {
            throw thrown;
        });
        if (!expectedTag.equals(tag())) {
            throw new ChangeConflictException();
        }
    }

    /** Sets the limit of a policy, as a reading of the configuration would. */
    private void set(RuntimeChange change, Map<String, String> values, String source) {
        if (change.subject().kind() != Kind.POLICY || !values.containsKey("limit")) {
            return;
        }
        operations.policies.replaceAll(policy ->
                !policy.name().equals(change.subject().policy())
                        ? policy
                        : new PolicyView(
                                policy.name(),
                                policy.mode(),
                                policy.enforcePercent(),
                                policy.algorithm(),
                                policy.key(),
                                policy.keys(),
                                List.of(values.get("limit").split(", ")),
                                policy.tiers(),
                                policy.cost(),
                                policy.onFailure(),
                                List.of(new PolicyView.Setting(
                                        "ratelimit.policies." + policy.name() + ".limit", values.get("limit"), source)),
                                policy.endpoints(),
                                policy.paths()));
    }

    @Override
    public synchronized RuntimeChange undo(long number, String reason, String author, String expectedTag)
            throws InvalidChangeException, ChangeConflictException {
        List<ConfigurationProblem> problems = new ArrayList<>(reasonProblems(reason));
        Optional<RuntimeChange> undone =
                active.stream().filter(change -> change.number() == number).findFirst();
        Optional<RuntimeChange> repeated = undone.isPresent()
                ? Optional.empty()
                : find(number)
                        .filter(entry -> entry.values().isEmpty())
                        .flatMap(undo -> find(undo.undoes().orElse(0)));
        if (undone.isEmpty() && repeated.isEmpty()) {
            problems.add(new ConfigurationProblem(
                    "WEIR-141", "number", Long.toString(number), "there is no such change", "read the changes"));
        }
        if (!problems.isEmpty()) {
            throw new InvalidChangeException(problems);
        }
        if (repeated.isPresent()) {
            check(expectedTag);
            RuntimeChange again = new RuntimeChange(
                    ++last,
                    repeated.get().subject(),
                    repeated.get().values(),
                    repeated.get().before(),
                    author,
                    reason,
                    Instant.now().truncatedTo(ChronoUnit.MILLIS),
                    repeated.get().until(),
                    OptionalLong.of(number));
            active.add(0, again);
            log.add(0, again);
            set(again, again.values(), "runtime change " + again.number() + " by " + author);
            return again;
        }
        check(expectedTag);
        active.remove(undone.orElseThrow());
        set(undone.get(), undone.get().before(), "application.properties");
        RuntimeChange undo = new RuntimeChange(
                ++last,
                undone.get().subject(),
                Map.of(),
                undone.get().values(),
                author,
                reason,
                Instant.now().truncatedTo(ChronoUnit.MILLIS),
                Optional.empty(),
                OptionalLong.of(number));
        log.add(0, undo);
        return undo;
    }

    private Optional<RuntimeChange> find(long number) {
        return log.stream().filter(change -> change.number() == number).findFirst();
    }

    @Override
    public synchronized List<RuntimeChange> log(int count) {
        failure.ifPresent(thrown -> {
            throw thrown;
        });
        return log.stream().limit(count).toList();
    }
}
