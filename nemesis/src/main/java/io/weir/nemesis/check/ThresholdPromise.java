// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * All instances together fire one event for each reached share and period (quota-notifications.md, "Periods" and "Delivery"). The event can
 * be repeated if Redis does not answer or loses the mark of the event, and if the clocks of the instances differ by a quarter of the window.
 * It can be missing if Redis does not answer the decision that reaches the share, and it can be lost with its instance. After a step back of
 * the clock of an instance, it can be late by one and a half windows (clocks.md).
 */
public final class ThresholdPromise implements Promise {
    private static final Duration FIRED_WITHIN = Duration.ofSeconds(2);

    @Override
    public String name() {
        return "thresholds";
    }

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        Map<String, List<Operation>> events = history.bySubject(operation -> operation.kind() == Kind.THRESHOLD);
        events.values().forEach(fired -> repeated(history, fired).ifPresent(violations::add));
        history.bySubject(operation -> operation.kind() == Kind.ACQUIRE
                        && operation.outcome() == Outcome.REJECTED
                        && history.policy(operation).more().containsKey("notify-at"))
                .forEach((key, rejected) -> missing(history, rejected, events.getOrDefault(key, List.of()))
                        .ifPresent(violations::add));
        return violations;
    }

    /** Returns the first event of a period that has one already. */
    private Optional<Violation> repeated(History history, List<Operation> fired) {
        long window = history.policy(fired.get(0)).window().toNanos();
        for (int i = 1; i < fired.size(); i++) {
            Operation event = fired.get(i);
            for (Operation earlier : fired.subList(0, i)) {
                long apart = Math.abs(event.start() + event.amount() - earlier.start() - earlier.amount());
                if (apart < window / 4
                        && event.value() == earlier.value()
                        && !canBeRepeated(history, earlier.start() - window, event.start())) {
                    return Optional.of(new Violation(name(), event, "repeats operation " + earlier.number()));
                }
            }
        }
        return Optional.empty();
    }

    /** Returns the first rejection without an event: a rejection means that the whole limit is used. */
    private Optional<Violation> missing(History history, List<Operation> rejected, List<Operation> fired) {
        long[] instants = fired.stream().mapToLong(Operation::start).sorted().toArray();
        for (Operation call : rejected) {
            long window = history.policy(call).window().toNanos();
            long from = call.start() - window - FIRED_WITHIN.toNanos();
            long to = call.end() + FIRED_WITHIN.toNanos();
            if (Sorted.upTo(instants, to) == Sorted.before(instants, from)
                    && !canBeMissing(
                            history, call.start() - window - history.recovery().toNanos(), to)
                    && !isStepped(history, from - window - window / 2, to)) {
                return Optional.of(new Violation(name(), call, "no event within a window"));
            }
        }
        return Optional.empty();
    }

    /** The period of an event is known by the instant of the event, which is wrong if its instance stands still before it. */
    private static boolean canBeRepeated(History history, long from, long to) {
        return Stream.of(Effect.OUTAGE, Effect.LOSS, Effect.AHEAD, Effect.STEP, Effect.PAUSE, Effect.STARVATION)
                .anyMatch(effect -> history.has(Fault.ALL, effect, from, to));
    }

    private static boolean canBeMissing(History history, long from, long to) {
        return Stream.of(Effect.OUTAGE, Effect.DEATH, Effect.PAUSE, Effect.STARVATION)
                .anyMatch(effect -> history.has(Fault.ALL, effect, from, to));
    }

    /** Returns whether a clock was stepped, forward or back, and not only wrong. */
    private static boolean isStepped(History history, long from, long to) {
        return history.faults(Fault.ALL, Effect.STEP)
                .anyMatch(fault -> Stream.of(fault.start(), fault.end()).anyMatch(at -> at >= from && at <= to));
    }
}
