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
 * earlier one comes back (change-limits-at-run-time.md). After a loss of data, an instance that starts does not have the changes, until the
 * next change of an instance that has them.
 */
public final class ChangePromise implements Promise {
    /** The second of the promise, and the time of a probe and of a busy machine. */
    private static final Duration APPLIED_WITHIN = Duration.ofSeconds(4);

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
        // Without an answer of Redis, the configuration applies to an instance that starts.
        boolean isConfigured = known < 0 || history.has(read.instance(), Effect.DEATH, settled, read.end());
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
        List<Span> away = history.cutOff(read.instance(), APPLIED_WITHIN);
        for (int i = away.size() - 1; i >= 0; i--) {
            if (away.get(i).overlaps(settled, read.end())) {
                settled = Math.min(settled, away.get(i).from() - APPLIED_WITHIN.toNanos());
            }
        }
        return settled;
    }
}
