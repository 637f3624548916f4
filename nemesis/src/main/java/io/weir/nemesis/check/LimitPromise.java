// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import io.weir.nemesis.history.Policy.Form;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Redis never allows more calls than the limit of a key (algorithms.md, "Worst case in a span of one window"). After a loss of data, and after
 * a step forward of the clock of Redis, each key has at most one additional limit (data-loss.md, clocks.md), and the permits that were
 * leased before (leases.md, "Unused permits"). A calendar limit has one after a step back as well.
 */
public final class LimitPromise implements Promise {
    /** The spans, in windows. A longer span finds a smaller excess. */
    private static final int[] WINDOWS = {1, 2, 5, 20};

    /** The clock of Redis and the monotonic clock of the machine differ by less than this part. */
    private static final long CLOCK_PART = 1_000;

    @Override
    public String name() {
        return "limit";
    }

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        Map<String, List<Operation>> allowed = history.bySubject(operation -> operation.kind() == Kind.ACQUIRE
                && operation.outcome() == Outcome.ALLOWED
                && history.policy(operation).form() != Form.CONCURRENCY);
        allowed.values().forEach(calls -> {
            Policy policy = history.policy(calls.get(0));
            long leased = history.instances() * Long.parseLong(policy.more().getOrDefault("lease", "0"));
            above(policy, policy.permits(), policy.burst(), leased, Epochs.of(calls, history.renewals(policy.form())))
                    .map(call -> new Violation(name(), call, "more permits than the limit of " + policy.name()))
                    .ifPresent(violations::add);
        });
        return violations;
    }

    /**
     * Returns the first call by which one of the parts has more permits than a limit.
     *
     * @param kept the permits that each part but the first one can have in addition
     */
    static Optional<Operation> above(Policy policy, long permits, long burst, long kept, List<List<Operation>> parts) {
        for (int i = 0; i < parts.size(); i++) {
            Contained contained = new Contained(parts.get(i));
            for (int windows : WINDOWS) {
                long nanos = policy.window().toNanos() * windows;
                long most = policy.mostIn(windows, permits, burst) + (i == 0 ? 0 : kept);
                Optional<Operation> found = contained.firstAbove(nanos - nanos / CLOCK_PART, most);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }
}
