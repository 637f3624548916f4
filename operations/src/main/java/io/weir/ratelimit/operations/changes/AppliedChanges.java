// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import static io.weir.ratelimit.operations.message.OperationsMessages.MESSAGES;

import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.snapshot.ValueLayer.Findings;
import io.weir.ratelimit.spi.ConfigurationProblem;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/** The changes that this instance applies. One thread at a time applies them, and none waits for the store meanwhile. */
final class AppliedChanges {
    private final ChangeTarget target;
    private final ChangeAudit audit;
    private final ReentrantLock lock = new ReentrantLock();
    private PolicyValues values = PolicyValues.NONE;
    private Set<RuntimeChange> overrides = Set.of();
    private Map<Overrides.Subject, Map<String, String>> validOverrides = Map.of();
    private Object configuration = "";
    private Map<Long, List<ConfigurationProblem>> invalid = Map.of();
    private final Set<Long> lostBlocks = new TreeSet<>();
    private volatile Map<Long, List<ConfigurationProblem>> notInForce = Map.of();
    private Set<Long> numbers = Set.of();
    private List<Long> withoutPolicy = List.of();
    private Optional<String> problem = Optional.empty();
    private boolean stepped;

    AppliedChanges(ChangeTarget target, ChangeAudit audit) {
        this.target = target;
        this.audit = audit;
    }

    /** Applies what is in force now. Logs what others have changed and what has ended. */
    void update(StoredChanges store) {
        update(store, Optional.empty());
    }

    /** Applies a change of this instance. */
    void updateByOwn(StoredChanges store, RuntimeChange own) {
        update(store, Optional.of(own));
    }

    private void update(StoredChanges store, Optional<RuntimeChange> own) {
        lock.lock();
        try {
            KnownChanges known = store.known();
            long nanos = store.nanos();
            Map<Long, RuntimeChange> current = known.current(nanos);
            apply(known.values(nanos), Set.copyOf(known.overrides(nanos).values()));
            keepLost(known, current);
            logNotInForce();
            log(current, own);
            log(known, current);
        } finally {
            lock.unlock();
        }
    }

    /** Applies values if they or the configuration have changed. */
    private void apply(PolicyValues nextValues, Set<RuntimeChange> nextOverrides) {
        Object nextConfiguration = target.configuration();
        boolean otherValues = !nextValues.equals(values);
        if (!otherValues && nextOverrides.equals(overrides) && nextConfiguration.equals(configuration)) {
            return;
        }
        if (otherValues) {
            target.apply(nextValues);
            values = nextValues;
        }
        Map<Long, List<ConfigurationProblem>> found = nextValues.isEmpty() && nextOverrides.isEmpty()
                ? Map.of()
                : problems(nextValues, target.check(nextValues, nextOverrides));
        override(nextOverrides, found.keySet());
        overrides = nextOverrides;
        configuration = nextConfiguration;
        invalid = found;
    }

    /**
     * Remembers the blocks that the store can have lost. Whether another instance has undone them is unknown, so they are not made again.
     */
    private void keepLost(KnownChanges known, Map<Long, RuntimeChange> current) {
        if (known.isLost()) {
            current.values().stream()
                    .filter(change -> change.subject().kind() == RuntimeChange.Kind.BLOCK)
                    .forEach(change -> lostBlocks.add(change.number()));
        }
        lostBlocks.retainAll(current.keySet());
    }

    private void logNotInForce() {
        Map<Long, List<ConfigurationProblem>> next = new TreeMap<>(invalid);
        lostBlocks.forEach(
                number -> next.put(number, List.of(MESSAGES.problem("WEIR-453.lost", "runtime change " + number, ""))));
        if (!next.equals(notInForce) && !next.isEmpty()) {
            audit.notInForce(next);
        }
        notInForce = next;
    }

    /**
     * Returns the problems of the changes that cannot be applied, by their numbers. One invalid value of a policy concerns all of its
     * changes.
     */
    private static Map<Long, List<ConfigurationProblem>> problems(PolicyValues values, Findings findings) {
        Map<Long, List<ConfigurationProblem>> problems = new TreeMap<>(findings.overrides());
        values.changes().forEach((policy, changes) -> {
            List<ConfigurationProblem> ofPolicy = findings.policies().get(policy);
            if (ofPolicy != null) {
                changes.values().forEach(change -> problems.put(change.number(), ofPolicy));
            }
        });
        return problems;
    }

    private void override(Set<RuntimeChange> current, Set<Long> invalid) {
        Map<Overrides.Subject, Map<String, String>> valid = new HashMap<>();
        for (RuntimeChange change : current) {
            if (!invalid.contains(change.number())) {
                valid.put(
                        new Overrides.Subject(
                                change.subject().policy(),
                                change.subject().storedKey().orElse("")),
                        change.values());
            }
        }
        if (!valid.equals(validOverrides)) {
            target.override(valid);
            validOverrides = valid;
        }
    }

    private void log(Map<Long, RuntimeChange> current, Optional<RuntimeChange> own) {
        Set<Long> added = new TreeSet<>(current.keySet());
        added.removeAll(numbers);
        Set<Long> removed = new TreeSet<>(numbers);
        removed.removeAll(current.keySet());
        own.ifPresent(change -> {
            added.remove(change.number());
            change.undoes().ifPresent(removed::remove);
        });
        numbers = Set.copyOf(current.keySet());
        if (!added.isEmpty() || !removed.isEmpty()) {
            audit.applied(added, removed);
        }
    }

    /** Logs once that the value in the store is ignored, that its clock has stepped, and that a policy is missing. */
    private void log(KnownChanges known, Map<Long, RuntimeChange> current) {
        if (!known.problem().equals(problem)) {
            problem = known.problem();
            problem.ifPresentOrElse(audit::ignored, audit::readable);
        }
        if (known.stepped() != stepped) {
            stepped = known.stepped();
            if (stepped) {
                audit.stepped();
            } else {
                audit.agrees();
            }
        }
        List<Long> missing = withoutPolicy(List.copyOf(current.values()));
        if (!missing.equals(withoutPolicy)) {
            withoutPolicy = missing;
            if (!missing.isEmpty()) {
                audit.withoutPolicy(missing);
            }
        }
    }

    /** Returns the problems of the changes that cannot be applied, by their numbers. */
    Map<Long, List<ConfigurationProblem>> notInForce() {
        return notInForce;
    }

    /** Returns the numbers of the changes whose policy this instance does not have. */
    List<Long> withoutPolicy(List<RuntimeChange> changes) {
        Set<String> names = target.names();
        return changes.stream()
                .filter(change -> !names.contains(change.subject().policy()))
                .map(RuntimeChange::number)
                .toList();
    }
}
