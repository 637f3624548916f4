// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.History.Span;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * No instance sends a call during a pause that it has received, nor Redis allows one during a stored pause (reports-of-the-upstream.md; when
 * Redis is away, outgoing-calls.md). A pause is stored at once if Redis answers, and otherwise with the next call of its instance. A loss
 * of data ends a stored pause for calls that Redis decides. A call is rejected only during a pause.
 */
public final class PausePromise implements Promise {
    /** Redis can store a pause until this time after a fault. */
    private static final Duration STORED_WITHIN = Duration.ofSeconds(5);

    @Override
    public String name() {
        return "outgoing pauses";
    }

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        Map<String, List<Operation>> calls = history.bySubject(operation -> operation.kind() == Kind.SEND);
        Map<String, List<Operation>> answers =
                history.bySubject(operation -> operation.kind() == Kind.ANSWER && operation.amount() > 0);
        calls.forEach((subject, sent) -> {
            List<Pause> pauses = answers.getOrDefault(subject, List.of()).stream()
                    .map(answer -> Pause.of(history, answer, sent))
                    .toList();
            sent.stream()
                    .map(call -> contradiction(history, call, pauses))
                    .flatMap(Optional::stream)
                    .findFirst()
                    .ifPresent(violations::add);
        });
        return violations;
    }

    private Optional<Violation> contradiction(History history, Operation call, List<Pause> pauses) {
        if (call.outcome() == Outcome.REJECTED) {
            return pauses.stream().anyMatch(pause -> pause.canReject(history, call))
                    ? Optional.empty()
                    : Optional.of(new Violation(name(), call, "rejected without a pause"));
        }
        if (call.outcome() != Outcome.ALLOWED && call.outcome() != Outcome.DEGRADED_ALLOWED) {
            return Optional.empty();
        }
        return pauses.stream()
                .filter(pause -> pause.forbids(history, call))
                .findFirst()
                .map(pause -> new Violation(
                        name(),
                        call,
                        "sent during the pause of operation " + pause.answer().number()));
    }

    /**
     * A pause that an answer of the upstream requires.
     *
     * @param stored an instant from which on Redis surely has the pause, {@link Operation#NEVER} if there is none
     * @param possible the latest instant at which the pause can reject a call
     */
    private record Pause(Operation answer, long stored, long possible) {
        static Pause of(History history, Operation answer, List<Operation> sent) {
            return new Pause(answer, storedAt(history, answer, sent), possibleUntil(history, answer));
        }

        private static long storedAt(History history, Operation answer, List<Operation> sent) {
            if (answer.outcome() != Outcome.DONE) {
                return Operation.NEVER;
            }
            if (isUsed(history, answer)) {
                return answer.end();
            }
            long ends = answer.start() + answer.amount();
            return sent.stream()
                    .filter(call -> call.instance() == answer.instance()
                            && call.start() > answer.end()
                            && call.end() < ends
                            && (call.outcome() == Outcome.ALLOWED || call.outcome() == Outcome.REJECTED)
                            && !history.has(answer.instance(), Effect.DEATH, answer.start(), call.end())
                            && isUsed(history, call))
                    .map(Operation::end)
                    .findFirst()
                    .orElse(Operation.NEVER);
        }

        /** Returns whether the instance of an operation surely uses Redis for it. */
        private static boolean isUsed(History history, Operation operation) {
            long from = operation.start() - history.recovery().toNanos();
            return !history.has(operation.instance(), Effect.DEATH, from, operation.end())
                    && history.cutOff(operation.instance(), Duration.ZERO).stream()
                            .noneMatch(span -> span.overlaps(from, operation.end()));
        }

        /** A rejection that an instance repeats ends later than the block, by the time of a reply. */
        private static long possibleUntil(History history, Operation answer) {
            long latest = history.latest(answer) + answer.amount();
            for (Span span : history.cutOff(answer.instance(), Duration.ZERO)) {
                if (span.overlaps(answer.start() - history.recovery().toNanos(), latest)) {
                    latest = Math.max(latest, span.to() + STORED_WITHIN.toNanos() + answer.amount());
                }
            }
            return latest + history.deadline().toNanos();
        }

        boolean canReject(History history, Operation call) {
            return answer.start() <= call.end()
                    && possible + history.extension(answer.start(), call.end()) >= call.start();
        }

        boolean forbids(History history, Operation call) {
            if (answer.outcome() != Outcome.DONE
                    || answer.end() >= call.start()
                    || answer.start() + answer.amount() <= call.end()) {
                return false;
            }
            boolean isReceived = answer.instance() == call.instance()
                    && !history.has(call.instance(), Effect.DEATH, answer.start(), call.end());
            if (call.outcome() == Outcome.DEGRADED_ALLOWED) {
                return isReceived;
            }
            boolean isKept = !history.isRenewed(answer.start(), call.end());
            return isKept && (isReceived || stored < call.start());
        }
    }
}
