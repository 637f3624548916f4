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
 * A penalty blocks its key and has one event (penalties.md, "Count of rejections"). Rejections of a blocked key do not count, so two events
 * of a key are a block apart. If the reply to a count is lost, there is no event. The policy of a penalty has one key in a run.
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
        Map<String, List<Operation>> events = history.bySubject(operation -> operation.kind() == Kind.PENALTY);
        events.values().forEach(fired -> repeated(history, fired).ifPresent(violations::add));
        history.bySubject(operation -> operation.kind() == Kind.ACQUIRE
                        && operation.outcome() == Outcome.BLOCKED
                        && history.policy(operation).more().containsKey("penalty.after"))
                .values()
                .forEach(blocked -> missing(
                                history,
                                blocked,
                                events.values().stream()
                                        .flatMap(List::stream)
                                        .filter(event -> event.policy()
                                                .equals(blocked.get(0).policy()))
                                        .toList())
                        .ifPresent(violations::add));
        return violations;
    }

    private Optional<Violation> repeated(History history, List<Operation> fired) {
        for (int i = 1; i < fired.size(); i++) {
            Operation earlier = fired.get(i - 1);
            Operation event = fired.get(i);
            if (event.start() - earlier.start() < earlier.amount() / 2
                    && !isExcepted(history, earlier.start() - earlier.amount(), event.start())) {
                return Optional.of(new Violation(name(), event, "repeats operation " + earlier.number()));
            }
        }
        return Optional.empty();
    }

    /** Returns the first blocked call without an event before it. */
    private Optional<Violation> missing(History history, List<Operation> blocked, List<Operation> fired) {
        for (Operation call : blocked) {
            boolean isFired = fired.stream()
                    .anyMatch(event -> event.start() < call.end() + FIRED_WITHIN.toNanos()
                            && event.start() + event.amount() + FIRED_WITHIN.toNanos() > call.start());
            if (!isFired && !isExcepted(history, call.start() - FIRED_WITHIN.toNanos(), call.end())) {
                return Optional.of(new Violation(name(), call, "no event of this block"));
            }
        }
        return Optional.empty();
    }

    private static boolean isExcepted(History history, long from, long to) {
        return history.faults().stream()
                .filter(fault -> fault.overlaps(from, to + FIRED_WITHIN.toNanos()))
                .anyMatch(fault -> fault.affects(Fault.ALL, Effect.OUTAGE)
                        || fault.affects(Fault.ALL, Effect.LOSS)
                        || fault.affects(Fault.ALL, Effect.DEATH)
                        || fault.affects(Fault.ALL, Effect.PAUSE)
                        || fault.affects(Fault.ALL, Effect.STARVATION));
    }
}
