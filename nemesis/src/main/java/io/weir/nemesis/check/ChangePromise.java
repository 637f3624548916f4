// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.History.Span;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A runtime change, and its undo, apply on all instances within a second, after an outage within another second and a deadline, and no
 * earlier one comes back (runtime-changes.md, "Several instances"). An instance that starts without Redis has the configuration
 * until Redis answers. After a loss of data, an instance that starts does not have the changes, until the next change of an instance that
 * has them.
 */
public final class ChangePromise implements Promise {
    private static final Duration APPLIED_WITHIN = Duration.ofSeconds(1);

    @Override
    public String name() {
        return "changes";
    }

    @Override
    public List<Violation> check(History history) {
        List<Operation> changes = history.operations().stream()
                .filter(operation -> operation.kind() == Kind.CHANGE)
                .toList();
        return history.operations().stream()
                .filter(operation -> operation.kind() == Kind.READ && operation.outcome() == Outcome.DONE)
                .map(read -> contradiction(history, changes, read))
                .flatMap(Optional::stream)
                .findFirst()
                .stream()
                .toList();
    }

    private Optional<Violation> contradiction(History history, List<Operation> changes, Operation read) {
        long settled = settled(history, read);
        int last = -1;
        for (int i = 0; i < changes.size(); i++) {
            if (changes.get(i).end() < settled) {
                last = i;
            }
        }
        // After a failed change or a loss, the state is known again after the next change.
        int known = last;
        while (known >= 0 && changes.get(known).outcome() != Outcome.DONE) {
            known--;
        }
        long since = known >= 0 ? changes.get(known).start() : history.start();
        if (history.has(Fault.ALL, Effect.LOSS, since, read.end())) {
            return Optional.empty();
        }
        boolean isConfigured = known < 0
                || (isAway(history, read, settled) && history.has(read.instance(), Effect.DEATH, settled, read.end()));
        boolean found = isConfigured && read.value() == history.policy(read).permits();
        for (int i = Math.max(0, known); i < changes.size() && changes.get(i).start() < read.end(); i++) {
            found |= changes.get(i).amount() == read.value();
        }
        return found
                ? Optional.empty()
                : Optional.of(new Violation(
                        name(),
                        read,
                        "the limit is " + read.value() + ", expected "
                                + (known < 0
                                        ? "that of the configuration"
                                        : changes.get(known).amount())));
    }

    /** Returns the instant before which each change applies to a read. */
    private static long settled(History history, Operation read) {
        long settled = read.start() - APPLIED_WITHIN.toNanos();
        Duration again = APPLIED_WITHIN.plus(history.recovery());
        for (Span away : history.cutOff(read.instance(), again)) {
            if (away.overlaps(read.start() - again.toNanos(), read.end())) {
                settled = Math.min(settled, away.from() - APPLIED_WITHIN.toNanos());
            }
        }
        return settled;
    }

    private static boolean isAway(History history, Operation read, long settled) {
        return history.cutOff(read.instance(), Duration.ZERO).stream()
                .anyMatch(span -> span.overlaps(settled - history.recovery().toNanos(), read.end()));
    }
}
