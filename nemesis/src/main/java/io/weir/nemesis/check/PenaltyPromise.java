// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A penalty blocks its key and has one event, after as many rejections as configured (penalties.md, "Count of rejections"). Rejections of a
 * blocked key do not count, so two events of a key are a block apart. If the reply to the count is lost, or the instance ends, there is no
 * event. An instance that stands still fires it late. A loss of data, or a step forward of the
 * clock of Redis, ends the block and its count; a step back extends it. The policy of a penalty has one key in a
 * run.
 */
public final class PenaltyPromise implements Promise {
    private static final Duration FIRED_WITHIN = Duration.ofSeconds(3);

    @Override
    public String name() {
        return "penalties";
    }

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        history.policies().values().stream()
                .filter(policy -> policy.more().containsKey("penalty.after"))
                .forEach(policy -> first(history, policy).ifPresent(violations::add));
        return violations;
    }

    private Optional<Violation> first(History history, Policy policy) {
        List<Operation> operations = history.operations().stream()
                .filter(operation -> operation.policy().equals(policy.name()))
                .toList();
        List<Operation> fired = operations.stream()
                .filter(operation -> operation.kind() == Kind.PENALTY)
                .toList();
        return Stream.of(
                        repeated(history, fired),
                        missing(history, policy, operations, fired),
                        early(history, policy, operations, fired))
                .flatMap(Optional::stream)
                .min(Comparator.comparingLong(violation -> violation.operation().end()));
    }

    private Optional<Violation> repeated(History history, List<Operation> fired) {
        for (int i = 1; i < fired.size(); i++) {
            Operation earlier = fired.get(i - 1);
            Operation event = fired.get(i);
            // A thread of the background fires the event, so the earlier one can be late.
            if (event.start() - earlier.start() < earlier.amount() / 2
                    && !isLate(history, earlier)
                    && !history.isRenewed(earlier.start() - earlier.amount(), event.start())) {
                return Optional.of(new Violation(name(), event, "repeats operation " + earlier.number()));
            }
        }
        return Optional.empty();
    }

    /** Returns the first blocked call without an event of its block. */
    private Optional<Violation> missing(
            History history, Policy policy, List<Operation> operations, List<Operation> fired) {
        long longest = Duration.parse("PT" + policy.more().get("penalty.max")).toNanos();
        return operations.stream()
                .filter(call -> call.outcome() == Outcome.BLOCKED)
                .filter(call -> fired.stream()
                        .noneMatch(event -> event.start() < call.end() + FIRED_WITHIN.toNanos()
                                && event.start()
                                                + event.amount()
                                                + history.extension(event.start(), call.end())
                                                + FIRED_WITHIN.toNanos()
                                        > call.start()))
                .filter(call -> Stream.of(Effect.OUTAGE, Effect.DEATH, Effect.PAUSE, Effect.STARVATION)
                        .flatMap(effect -> history.faults(Fault.ALL, effect))
                        .noneMatch(fault -> canBeginDuring(fault, longest, history, call)))
                .findFirst()
                .map(call -> new Violation(name(), call, "no event of this block"));
    }

    /** Returns whether a block whose event is missing because of a fault can still block a call. */
    private static boolean canBeginDuring(Fault fault, long longest, History history, Operation call) {
        long from = fault.start() - FIRED_WITHIN.toNanos();
        long to = fault.end() + FIRED_WITHIN.toNanos();
        return from <= call.end() && history.extended(from, to + longest) >= call.start();
    }

    /** Returns the first event without enough rejections before it. */
    private Optional<Violation> early(
            History history, Policy policy, List<Operation> operations, List<Operation> fired) {
        String[] after = policy.more().get("penalty.after").split("/", -1);
        long window = Duration.parse("PT" + after[1]).plus(FIRED_WITHIN).toNanos();
        return fired.stream()
                .filter(event -> !isLate(history, event))
                .filter(event -> operations.stream()
                                .filter(call -> call.outcome() == Outcome.REJECTED || call.outcome() == Outcome.LOST)
                                .filter(call -> call.start() <= event.start()
                                        && history.extended(call.start(), call.end() + window) >= event.start())
                                .count()
                        < Long.parseLong(after[0]))
                .findFirst()
                .map(event -> new Violation(name(), event, "less than " + after[0] + " rejections before it"));
    }

    private static boolean isLate(History history, Operation event) {
        return Stream.of(Effect.OUTAGE, Effect.PAUSE, Effect.STARVATION)
                .anyMatch(effect ->
                        history.has(Fault.ALL, effect, event.start() - FIRED_WITHIN.toNanos(), event.start()));
    }
}
