// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.operations.changes.RuntimeChange.Kind;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The state of the runtime changes at an instant of the store: the active changes, in the order in which they were made. Some of them can
 * have ended since then. The number is that of the last change or undo; 0 if there was none.
 */
public record ChangeState(long number, Instant written, List<RuntimeChange> active) {
    /** The state before the first change. */
    public static final ChangeState EMPTY = new ChangeState(0, Instant.EPOCH, List.of());

    /** The greatest number of active changes. */
    public static final int MAX_ACTIVE = 1_000;

    /** The number of changes of one attribute that are kept, so that they can be undone. */
    public static final int MAX_EARLIER = 10;

    /** The number after which the changes are numbered anew, so that a forged number cannot be the last one. */
    private static final long LAST_NUMBER = 1_000_000_000_000L;

    /** Copies the list. */
    public ChangeState {
        active = List.copyOf(active);
    }

    /**
     * Returns the tag of this state in the store, {@code <number>-<milliseconds since 1970>}; {@link ChangeStore#NO_TAG} for the empty
     * state.
     */
    public String tag() {
        return number == 0 ? ChangeStore.NO_TAG : number + "-" + written.toEpochMilli();
    }

    /** Returns this state, with new numbers from 1 on if its number is greater than those that operators can reach. */
    ChangeState withSmallNumbers() {
        if (number <= LAST_NUMBER) {
            return this;
        }
        List<RuntimeChange> numbered = new ArrayList<>();
        for (RuntimeChange change : active) {
            numbered.add(change.withNumber(numbered.size() + 1));
        }
        return new ChangeState(Math.max(1, numbered.size()), written, numbered);
    }

    /**
     * Returns the state after another change, which has the next number. It has no changes that have ended, nor those that
     * {@value #MAX_EARLIER} later ones hide.
     */
    public ChangeState with(RuntimeChange change) {
        List<RuntimeChange> all = new ArrayList<>(current(change.at()));
        all.add(change);
        return new ChangeState(change.number(), writtenBy(change), withoutHidden(all));
    }

    /** Returns the state after another change, which has the next number, has undone a change. */
    public ChangeState after(RuntimeChange undo) {
        List<RuntimeChange> others = current(undo.at()).stream()
                .filter(change -> change.number() != undo.undoes().orElse(0))
                .toList();
        return new ChangeState(undo.number(), writtenBy(undo), others);
    }

    /** A later state is never written before an earlier one, also if the clock has stepped back. */
    private Instant writtenBy(RuntimeChange change) {
        return change.at().isBefore(written) ? written : change.at();
    }

    /** Returns the active change with a number, unless it has been undone or replaced. */
    public Optional<RuntimeChange> find(long searched) {
        return active.stream().filter(change -> change.number() == searched).findFirst();
    }

    /** Returns the changes that have not ended at a time of the store, the latest last. */
    public List<RuntimeChange> current(Instant now) {
        return active.stream().filter(change -> !change.isEnded(now)).toList();
    }

    /** Returns the changes of policies in force at a time of the store: for each attribute the latest one that has not ended. */
    public Map<String, Map<String, RuntimeChange>> policies(Instant now) {
        Map<String, Map<String, RuntimeChange>> policies = new TreeMap<>();
        for (RuntimeChange change : current(now)) {
            if (change.subject().kind() == Kind.POLICY) {
                Map<String, RuntimeChange> values =
                        policies.computeIfAbsent(change.subject().policy(), first -> new TreeMap<>());
                change.values().keySet().forEach(attribute -> values.put(attribute, change));
            }
        }
        return policies;
    }

    /** Returns the overrides of keys in force at a time of the store: for each key the latest one that has not ended. */
    public Map<RuntimeChange.Subject, RuntimeChange> overrides(Instant now) {
        Map<RuntimeChange.Subject, RuntimeChange> overrides = new LinkedHashMap<>();
        current(now).stream()
                .filter(change -> change.subject().kind() == Kind.OVERRIDE)
                .forEach(change -> overrides.put(change.subject(), change));
        return Collections.unmodifiableMap(overrides);
    }

    /**
     * Returns the overrides of keys of a policy that are in force at some time in a period, as far as no change is made in it. Those that a
     * later one hides during the whole period are left out. The period ends before {@code to}.
     */
    List<RuntimeChange> overrides(String policy, Instant from, Instant to) {
        Map<RuntimeChange.Subject, Instant> visibleFrom = new HashMap<>();
        List<RuntimeChange> found = new ArrayList<>();
        for (int i = active.size() - 1; i >= 0; i--) {
            RuntimeChange change = active.get(i);
            if (change.subject().kind() == Kind.OVERRIDE
                    && change.subject().policy().equals(policy)) {
                Instant start = visibleFrom.getOrDefault(change.subject(), from);
                Instant end = change.until().orElse(Instant.MAX);
                if (start.isBefore(to) && start.isBefore(end)) {
                    found.add(change);
                }
                visibleFrom.put(change.subject(), start.isBefore(end) ? end : start);
            }
        }
        return found;
    }

    private record Hidden(RuntimeChange.Subject subject, String attribute) {}

    /** Removes the changes none of whose attributes is among the latest ones. A block hides all earlier ones of its key. */
    private static List<RuntimeChange> withoutHidden(List<RuntimeChange> changes) {
        Map<Hidden, Integer> later = new HashMap<>();
        List<RuntimeChange> kept = new ArrayList<>();
        for (int i = changes.size() - 1; i >= 0; i--) {
            RuntimeChange change = changes.get(i);
            int most = change.subject().kind() == Kind.BLOCK ? 1 : MAX_EARLIER;
            boolean visible = false;
            for (Hidden attribute : attributes(change)) {
                visible |= later.merge(attribute, 1, Integer::sum) <= most;
            }
            if (visible) {
                kept.add(change);
            }
        }
        Collections.reverse(kept);
        return kept;
    }

    private static List<Hidden> attributes(RuntimeChange change) {
        return change.subject().kind() == Kind.POLICY
                ? change.values().keySet().stream()
                        .map(attribute -> new Hidden(change.subject(), attribute))
                        .toList()
                : List.of(new Hidden(change.subject(), ""));
    }
}
