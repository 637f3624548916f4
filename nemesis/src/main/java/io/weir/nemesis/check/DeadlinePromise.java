// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import java.time.Duration;
import java.util.List;

/**
 * No call waits longer than the deadline (when-redis-is-away.md, "How long a call waits"). The time for which the instance stood still
 * does not count, and neither does a call in a slow start, which loads classes.
 */
public final class DeadlinePromise implements Promise {
    /** A call that waits for Redis instead waits until the end of a fault, which is longer. */
    private static final Duration RESUMED_WITHIN = Duration.ofSeconds(1);

    @Override
    public String name() {
        return "deadline";
    }

    @Override
    public List<Violation> check(History history) {
        long most = history.deadline().plus(RESUMED_WITHIN).toNanos();
        return history.operations().stream()
                .filter(operation -> operation.kind() == Kind.ACQUIRE && operation.end() != Operation.NEVER)
                .filter(operation -> operation.took() - operation.stalled() > most)
                .filter(operation -> history.faults(operation.instance(), Effect.STARVATION)
                        .noneMatch(fault -> fault.name().equals(Fault.SLOW_START)
                                && fault.overlaps(operation.start(), operation.start())))
                .findFirst()
                .map(call -> new Violation(name(), call, "the call took " + call.took() / 1_000_000 + " ms"))
                .stream()
                .toList();
    }
}
