// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.changes;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.policy.OverrideReader;
import io.weir.ratelimit.core.policy.Overrides;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;

/** The changes that this instance applies. One thread at a time applies them, and none waits for the store meanwhile. */
final class AppliedChanges {
    private final ChangeTarget target;
    private final ChangeAudit audit;
    private final ReentrantLock lock = new ReentrantLock();
    private PolicyValues values = PolicyValues.NONE;
    private Map<Overrides.Subject, Map<String, String>> overrides = Map.of();
    private Set<Long> numbers = Set.of();
    private List<Long> withoutPolicy = List.of();
    private List<Long> invalid = List.of();
    private Optional<String> problem = Optional.empty();

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
            if (apply(known.values(nanos), overrides(known, nanos))) {
                logInvalid(known.overrides(nanos));
            }
            log(current, own);
            log(known, current);
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether other values are in force. */
    private boolean apply(PolicyValues nextValues, Map<Overrides.Subject, Map<String, String>> nextOverrides) {
        boolean otherValues = !nextValues.equals(values);
        boolean otherOverrides = !nextOverrides.equals(overrides);
        if (otherValues) {
            target.apply(nextValues);
            values = nextValues;
        }
        if (otherOverrides) {
            target.override(nextOverrides);
            overrides = nextOverrides;
        }
        return otherValues || otherOverrides;
    }

    /** Logs overrides that another instance has accepted, but whose values are invalid under a policy of this one. */
    private void logInvalid(Map<RuntimeChange.Subject, RuntimeChange> current) {
        List<Long> found = current.values().stream()
                .filter(change -> target.policy(change.subject().policy())
                        .filter(policy -> OverrideReader.read(policy, change.values(), new Problems())
                                .isEmpty())
                        .isPresent())
                .map(RuntimeChange::number)
                .toList();
        if (!found.equals(invalid) && !found.isEmpty()) {
            audit.invalid(found);
        }
        invalid = found;
    }

    private static Map<Overrides.Subject, Map<String, String>> overrides(KnownChanges known, long nanos) {
        Map<Overrides.Subject, Map<String, String>> overrides = new HashMap<>();
        known.overrides(nanos)
                .forEach((subject, change) -> overrides.put(
                        new Overrides.Subject(
                                subject.policy(), subject.storedKey().orElse("")),
                        change.values()));
        return overrides;
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

    /** Logs once that the value in the store is ignored, and that a policy is missing. */
    private void log(KnownChanges known, Map<Long, RuntimeChange> current) {
        if (!known.problem().equals(problem)) {
            problem = known.problem();
            problem.ifPresentOrElse(audit::ignored, audit::readable);
        }
        List<Long> missing = withoutPolicy(List.copyOf(current.values()));
        if (!missing.equals(withoutPolicy)) {
            withoutPolicy = missing;
            if (!missing.isEmpty()) {
                audit.withoutPolicy(missing);
            }
        }
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
