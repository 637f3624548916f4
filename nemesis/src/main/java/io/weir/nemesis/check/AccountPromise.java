// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.History.Span;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Kind;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The spent permits of a key are those of its calls (failures.md, "Results"; settle.md, "Effects"). A call spends its cost once, a settlement
 * replaces it once, and a refund returns it once. A call whose decision is unknown spends its cost once at most. Charges before a loss of
 * data count no longer. A failover can undo what happens during it (data-loss.md).
 */
public final class AccountPromise implements Promise {
    @Override
    public String name() {
        return "account";
    }

    @Override
    public List<Violation> check(History history) {
        return check(history, name(), policy -> !policy.hasOwnKeys());
    }

    /** Returns the violations by the keys of some policies, as those of a promise. */
    static List<Violation> check(History history, String promise, Predicate<Policy> policies) {
        List<Violation> violations = new ArrayList<>();
        List<Span> losses = history.faults(Fault.ALL, Effect.LOSS)
                .filter(fault -> !fault.affects(Fault.ALL, Effect.ROLLBACK))
                .map(fault -> new Span(fault.start(), fault.end()))
                .toList();
        List<Span> rollbacks = history.times(Fault.ALL, Effect.ROLLBACK, Duration.ZERO);
        Map<Long, Operation> acquired = new HashMap<>();
        history.operations().stream()
                .filter(operation -> operation.kind() == Kind.ACQUIRE)
                .forEach(operation -> acquired.put(operation.number(), operation));
        Map<String, List<Operation>> peeks = history.bySubject(operation -> operation.kind() == Kind.PEEK
                && operation.outcome() == Outcome.DONE
                && policies.test(history.policy(operation)));
        Map<String, List<Operation>> others = history.bySubject(operation -> operation.kind() != Kind.PEEK);
        peeks.forEach((key, found) -> {
            List<Delta> deltas = deltas(history, others.getOrDefault(key, List.of()), acquired);
            found.stream()
                    .filter(peek -> rollbacks.stream().noneMatch(span -> span.overlaps(peek.start(), peek.end())))
                    .flatMap(peek -> contradiction(peek, undone(deltas, rollbacks, peek), losses)
                            .map(reason -> new Violation(promise, peek, reason))
                            .stream())
                    .findFirst()
                    .ifPresent(violations::add);
        });
        return violations;
    }

    /**
     * A change of the spent permits.
     *
     * @param call the acquire whose charge changes
     * @param from the earliest instant of the change
     * @param sure the latest instant of the change; {@link Operation#NEVER} if it need not happen
     * @param until the latest instant at which it can be seen
     */
    private record Delta(Operation call, long from, long sure, long until, long permits) {
        boolean canBeUndoneBy(Span rollback) {
            return rollback.overlaps(from, sure) || rollback.overlaps(call.start(), call.end());
        }

        /** Returns the least or the greatest change as a peek can see it. */
        long seenBy(Operation peek, Span loss, boolean least) {
            if (from > peek.end()
                    || until < peek.start()
                    || (loss != null && !call.isUnknown() && call.end() < loss.from())) {
                return 0;
            }
            boolean kept = loss == null || call.start() > loss.to();
            if (kept && sure < peek.start()) {
                return permits;
            }
            return least ? Math.min(0, permits) : Math.max(0, permits);
        }
    }

    /** Returns the changes as they are after failovers before a peek: those during a failover need not have happened. */
    private static List<Delta> undone(List<Delta> deltas, List<Span> rollbacks, Operation peek) {
        List<Span> before =
                rollbacks.stream().filter(span -> span.to() < peek.start()).toList();
        return deltas.stream()
                .map(delta -> before.stream().anyMatch(delta::canBeUndoneBy)
                        ? new Delta(delta.call, delta.from, Operation.NEVER, delta.until, delta.permits)
                        : delta)
                .toList();
    }

    private static List<Delta> deltas(History history, List<Operation> operations, Map<Long, Operation> acquired) {
        List<Delta> deltas = new ArrayList<>();
        Map<Long, Operation> ended = new HashMap<>();
        for (Operation operation : operations) {
            long sure = operation.isUnknown() ? Operation.NEVER : operation.end();
            if (operation.kind() == Kind.ACQUIRE) {
                if (operation.outcome() != Outcome.REJECTED && operation.outcome() != Outcome.BLOCKED) {
                    deltas.add(new Delta(operation, operation.start(), sure, Operation.NEVER, operation.amount()));
                } else if (operation.isJoint()) {
                    long until = history.refunded(operation);
                    deltas.add(new Delta(operation, operation.start(), Operation.NEVER, until, operation.amount()));
                }
            } else if (operation.kind() == Kind.REFUND || operation.kind() == Kind.SETTLE) {
                Operation call = acquired.get(operation.call());
                long actual = operation.kind() == Kind.REFUND ? 0 : operation.amount();
                if (call != null && ended.putIfAbsent(call.number(), operation) == null) {
                    deltas.add(new Delta(call, operation.start(), sure, Operation.NEVER, actual - call.amount()));
                }
            }
        }
        return deltas;
    }

    private static Optional<String> contradiction(Operation peek, List<Delta> deltas, List<Span> losses) {
        Span loss = null;
        for (Span span : losses) {
            if (span.overlaps(peek.start(), peek.end())) {
                return Optional.empty();
            }
            loss = span.to() < peek.start() ? span : loss;
        }
        Span last = loss;
        long least = deltas.stream()
                .mapToLong(delta -> delta.seenBy(peek, last, true))
                .sum();
        long most = deltas.stream()
                .mapToLong(delta -> delta.seenBy(peek, last, false))
                .sum();
        return peek.value() >= Math.max(0, least) && peek.value() <= most
                ? Optional.empty()
                : Optional.of(peek.value() + " permits are spent, expected " + least + " to " + most);
    }
}
