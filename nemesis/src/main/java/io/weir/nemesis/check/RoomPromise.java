// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import io.weir.nemesis.history.Policy.Form;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A limit rejects a call only if it has no room (algorithms.md): the permits that can have been spent in its windows, by calls with a known
 * and with an unknown decision, leave less than the cost. After a step back of the clock of Redis, a window begins again, once an instance no
 * longer repeats a rejection (clocks.md).
 */
public final class RoomPromise implements Promise {
    private static final Set<Form> FORMS = Set.of(Form.FIXED_WINDOW, Form.SLIDING_WINDOW, Form.SLIDING_LOG);

    /** The clock of an instance, which repeats rejections, and that of Redis differ by less than this part. */
    private static final long CLOCK_PART = 1_000;

    @Override
    public String name() {
        return "room";
    }

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        history.bySubject(operation -> operation.kind() == Kind.ACQUIRE
                        && FORMS.contains(history.policy(operation).form())
                        && !history.policy(operation).more().containsKey("lease"))
                .values()
                .forEach(calls -> first(history, calls, violations));
        return violations;
    }

    private void first(History history, List<Operation> calls, List<Violation> violations) {
        Policy policy = history.policy(calls.get(0));
        long lookBack = policy.window().toNanos() * (policy.form() == Form.SLIDING_WINDOW ? 2 : 1);
        List<Operation> spends = calls.stream()
                .filter(call -> call.outcome() == Outcome.ALLOWED || call.isUnknown())
                .toList();
        long[] starts = spends.stream().mapToLong(Operation::start).sorted().toArray();
        long[] ends = spends.stream().mapToLong(history::latest).sorted().toArray();
        for (Operation call : calls) {
            if (call.outcome() == Outcome.REJECTED
                    && !history.has(Fault.ALL, Effect.BEHIND, call.start() - 2 * lookBack, call.end())) {
                long from = call.start() - lookBack - lookBack / CLOCK_PART;
                int possible = Sorted.upTo(starts, call.end()) - Sorted.before(ends, from);
                if (possible < policy.permits()) {
                    violations.add(new Violation(
                            name(),
                            call,
                            "rejected although at most " + possible + " permits of " + policy.name() + " are spent"));
                    return;
                }
            }
        }
    }
}
