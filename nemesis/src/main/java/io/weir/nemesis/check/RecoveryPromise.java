// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * An instance uses Redis again one second and one deadline after an outage (deadline-and-breaker.md, "The delay"), and up to two seconds
 * later if it had no connection (failures.md, "Results"). It uses Redis if Redis allows a call, and no call is degraded in the deadline
 * before it: an open breaker lets single calls pass.
 */
public final class RecoveryPromise implements Promise {
    @Override
    public String name() {
        return "recovery";
    }

    @Override
    public List<Violation> check(History history) {
        long within =
                history.recovery().plus(history.deadline().multipliedBy(2)).toNanos();
        return IntStream.range(0, history.instances())
                .mapToObj(instance -> undecided(history, instance, within))
                .flatMap(Optional::stream)
                .toList();
    }

    /** Returns the first degraded call of an instance that has had the time to recover, and has not used Redis in it. */
    private Optional<Violation> undecided(History history, int instance, long within) {
        List<Operation> calls = history.operations().stream()
                .filter(call -> call.instance() == instance && call.kind() == Kind.ACQUIRE)
                .toList();
        long used = calls.isEmpty() ? 0 : calls.get(0).start();
        long quietFrom = used;
        for (Operation call : calls) {
            boolean isDegraded =
                    call.outcome() == Outcome.DEGRADED_ALLOWED || call.outcome() == Outcome.DEGRADED_REJECTED;
            long from = call.start() - within;
            if (isDegraded
                    && used < from
                    && Stream.of(Effect.OUTAGE, Effect.DEATH, Effect.PAUSE, Effect.STARVATION)
                            .noneMatch(effect -> history.has(instance, effect, from, call.end()))) {
                return Optional.of(new Violation(name(), call, "degraded although Redis has answered for long"));
            }
            if (isDegraded) {
                quietFrom = call.start() + history.deadline().toNanos();
            } else if (call.outcome() == Outcome.ALLOWED && call.start() >= quietFrom) {
                used = Math.max(used, call.end());
            }
        }
        return Optional.empty();
    }
}
