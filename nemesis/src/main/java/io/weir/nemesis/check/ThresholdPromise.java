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

/**
 * All instances together fire one event for each reached share and period (quota-notifications.md). The event can be repeated if Redis does
 * not answer, and if the clocks of the instances differ by a quarter of the window. It can be lost with its instance.
 */
public final class ThresholdPromise implements Promise {
    private static final Duration FIRED_WITHIN = Duration.ofSeconds(3);

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
                        && !isExcepted(history, earlier.start() - window, event.start(), true)) {
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
                    && !isExcepted(history, from - window, to, false)) {
                return Optional.of(new Violation(name(), call, "no event within a window"));
            }
        }
        return Optional.empty();
    }

    private static boolean isExcepted(History history, long from, long to, boolean steps) {
        return history.faults().stream()
                .filter(fault -> fault.overlaps(from, to))
                .anyMatch(fault -> fault.affects(Fault.ALL, Effect.OUTAGE)
                        || fault.affects(Fault.ALL, Effect.LOSS)
                        || fault.affects(Fault.ALL, Effect.DEATH)
                        || fault.affects(Fault.ALL, Effect.PAUSE)
                        || fault.affects(Fault.ALL, Effect.STARVATION)
                        || (steps && fault.affects(Fault.ALL, Effect.STEP)));
    }
}
