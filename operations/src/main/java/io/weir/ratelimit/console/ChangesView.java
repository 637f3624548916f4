// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/** Runtime changes as JSON objects. Keys are masked. */
final class ChangesView {
    private final Operations operations;
    private final RuntimeChanges.View state;
    private final Set<Long> active;

    ChangesView(Operations operations, RuntimeChanges.View state) {
        this.operations = operations;
        this.state = state;
        this.active = state.active().stream().map(RuntimeChange::number).collect(Collectors.toSet());
    }

    /** Returns the state at a time, for a user who may make changes or not. */
    Map<String, Object> state(boolean mayChange, Instant now) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("version", state.tag());
        view.put("shared", state.shared());
        view.put("mayChange", mayChange);
        view.put("now", now.toEpochMilli());
        view.put("read", state.read().map(Instant::toEpochMilli));
        view.put("problem", state.problem());
        view.put("active", changes(state.active(), now));
        return view;
    }

    /** Returns changes. */
    List<Map<String, Object>> changes(List<RuntimeChange> changes, Instant now) {
        return changes.stream()
                .map(change -> change(change, isActive(change) || canBeRepeated(change, changes, now)))
                .toList();
    }

    /** Returns an active change. */
    Map<String, Object> change(RuntimeChange change) {
        return change(change, isActive(change));
    }

    private boolean isActive(RuntimeChange change) {
        return active.contains(change.number());
    }

    /** Tests whether a change is the undo of one of the given changes, which has not ended: then the undo can be undone once. */
    private boolean canBeRepeated(RuntimeChange undo, List<RuntimeChange> changes, Instant now) {
        return undo.isUndo()
                && state.active().stream().noneMatch(change -> change.undoes().equals(OptionalLong.of(undo.number())))
                && changes.stream()
                        .anyMatch(change ->
                                change.number() == undo.undoes().orElse(0) && !change.isUndo() && !change.isEnded(now));
    }

    private Map<String, Object> change(RuntimeChange change, boolean undoable) {
        Map<String, Object> view = new LinkedHashMap<>();
        view.put("number", change.number());
        view.put("kind", PostedChange.nameOf(change.subject().kind()));
        view.put("policy", change.subject().policy());
        view.put(
                "key",
                change.subject().storedKey().map(key -> masked(change.subject().policy(), key)));
        view.put("values", change.values());
        view.put("before", change.before());
        view.put("author", change.author());
        view.put("reason", change.reason());
        view.put("at", change.at().toEpochMilli());
        view.put("until", change.until().map(Instant::toEpochMilli));
        view.put("undoes", number(change.undoes()));
        view.put("undoable", undoable);
        view.put("withoutPolicy", state.withoutPolicy().contains(change.number()));
        view.put("notInForce", problems(state.notInForce().getOrDefault(change.number(), List.of())));
        return view;
    }

    /** Returns problems, with the same texts as those of the configuration. */
    static List<Map<String, String>> problems(List<ConfigurationProblem> problems) {
        return problems.stream()
                .map(problem -> Map.of(
                        "id", problem.id(),
                        "place", problem.place(),
                        "value", problem.value(),
                        "problem", problem.problem(),
                        "remedy", problem.remedy()))
                .toList();
    }

    private static Optional<Long> number(OptionalLong number) {
        return number.isPresent() ? Optional.of(number.getAsLong()) : Optional.empty();
    }

    /** Returns the masked form of a stored key, which others can have written. */
    private String masked(String policy, String storedKey) {
        try {
            return operations.callerByStoredKey(policy, storedKey).key();
        } catch (IllegalArgumentException e) {
            return "unknown";
        }
    }
}
