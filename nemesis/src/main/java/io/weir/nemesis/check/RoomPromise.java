// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy.Form;
import java.util.ArrayList;
import java.util.List;

/**
 * A limit rejects a call only if it has no room (algorithms.md): the permits that can have been spent in its windows, by calls with a known
 * and with an unknown decision, leave less than the cost. A bucket returns its permits meanwhile. Each instance can hold a lease that nobody
 * uses (leases.md, "Unused permits"). After a step back of the clock of Redis, a window begins again, once an instance no longer repeats a
 * rejection (clocks.md).
 */
public final class RoomPromise implements Promise {
    @Override
    public String name() {
        return "room";
    }

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        history.bySubject(operation -> operation.kind() == Kind.ACQUIRE
                        && history.policy(operation).form() != Form.CONCURRENCY)
                .values()
                .forEach(calls -> {
                    Room room = new Room(history, calls);
                    calls.stream()
                            .filter(call -> call.outcome() == Outcome.REJECTED && !call.isJoint())
                            .flatMap(call -> room.of(call).stream().map(reason -> new Violation(name(), call, reason)))
                            .findFirst()
                            .ifPresent(violations::add);
                });
        return violations;
    }
}
