// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.History.Span;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import io.weir.nemesis.history.Policy.Form;
import io.weir.ratelimit.FailureMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The failure mode decides what Redis does not (when-redis-is-away.md): {@code open} allows, {@code closed} rejects, and with {@code local}
 * an instance allows at most its share of the limit. The counts of a share end with the process, and windows end early if its wall clock
 * steps forward.
 */
public final class FailureModePromise implements Promise {
    /** The clock of the process follows its wall clock once a second. */
    private static final Duration FOLLOWS_WITHIN = Duration.ofSeconds(3);

    @Override
    public String name() {
        return "failure mode";
    }

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        history.operations().stream()
                .filter(operation -> operation.kind() == Kind.ACQUIRE)
                .filter(operation -> contradicts(history.policy(operation).mode(), operation.outcome()))
                .findFirst()
                .map(call -> new Violation(
                        name(),
                        call,
                        "not the decision of " + history.policy(call).mode()))
                .ifPresent(violations::add);
        for (int instance = 0; instance < history.instances(); instance++) {
            shares(history, instance).forEach(violations::add);
        }
        return violations;
    }

    private static boolean contradicts(FailureMode mode, Outcome outcome) {
        return (mode == FailureMode.OPEN && outcome == Outcome.DEGRADED_REJECTED)
                || (mode == FailureMode.CLOSED && outcome == Outcome.DEGRADED_ALLOWED);
    }

    private Stream<Violation> shares(History history, int instance) {
        List<Span> losses = Stream.concat(
                        history.times(instance, Effect.DEATH, Duration.ZERO).stream(),
                        history.times(instance, Effect.STEP, Duration.ZERO).stream()
                                .map(step -> new Span(step.from(), step.to() + FOLLOWS_WITHIN.toNanos())))
                .sorted(Comparator.comparingLong(Span::from))
                .toList();
        return history
                .bySubject(operation -> operation.instance() == instance
                        && operation.kind() == Kind.ACQUIRE
                        && operation.outcome() == Outcome.DEGRADED_ALLOWED
                        && history.policy(operation).form() != Form.CONCURRENCY
                        && history.policy(operation).mode() == FailureMode.LOCAL)
                .values()
                .stream()
                .map(calls -> aboveShare(history, calls, losses))
                .flatMap(Optional::stream);
    }

    private Optional<Violation> aboveShare(History history, List<Operation> calls, List<Span> losses) {
        Policy policy = history.policy(calls.get(0));
        long share = Math.max(1, policy.permits() / history.instances());
        long burst = Math.max(1, policy.burst() / history.instances());
        return LimitPromise.above(policy, share, burst, 0, Epochs.of(calls, losses))
                .map(call -> new Violation(name(), call, "more than the share " + share + " of " + policy.name()));
    }
}
