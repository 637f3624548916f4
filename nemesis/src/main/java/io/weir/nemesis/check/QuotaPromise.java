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
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * An allowed call has no more remaining permits than its limit leaves; a sliding log leaves exactly those that are not spent in its window.
 * A rejected call has a wait of at least one second, also without the backend. After it, the same call is allowed if no other call spends
 * (responses.md, "Allowed requests" and "Rejected requests"). After a step back of the clock of Redis, a window begins again (clocks.md).
 * After a step forward and a loss of data, an instance can repeat a rejection that is older than the new state of its key.
 */
public final class QuotaPromise implements Promise {
    /** The clock of Redis and the monotonic clock of the machine differ by less than this part. */
    private static final long CLOCK_PART = 1_000;

    @Override
    public String name() {
        return "quotas";
    }

    @Override
    public List<Violation> check(History history) {
        List<Violation> violations = new ArrayList<>();
        history.bySubject(operation -> operation.kind() == Kind.ACQUIRE).values().stream()
                .map(calls -> new OfKey(history, calls))
                .forEach(key -> key.calls.stream()
                        .flatMap(call ->
                                key.contradiction(call).map(reason -> new Violation(name(), call, reason)).stream())
                        .findFirst()
                        .ifPresent(violations::add));
        return violations;
    }

    /** The calls of a key. */
    private static final class OfKey {
        private final History history;
        private final Policy policy;
        private final List<Operation> calls;
        private final List<Operation> rejected;
        private final long[] rejectedStarts;
        private final long[] allowedStarts;
        private final long[] allowedEnds;
        private final long[] spendStarts;
        private final long lookBack;

        /** By the place of a call that can have spent: the latest instant at which it or an earlier one can have done so. */
        private final long[] latest;

        OfKey(History history, List<Operation> calls) {
            this.history = history;
            this.calls = calls;
            policy = history.policy(calls.get(0));
            lookBack = policy.window().toNanos() * (policy.form() == Form.SLIDING_WINDOW ? 2 : 1);
            rejected = calls.stream()
                    .filter(call -> call.outcome() == Outcome.REJECTED)
                    .toList();
            rejectedStarts = rejected.stream().mapToLong(Operation::start).toArray();
            List<Operation> allowed = calls.stream()
                    .filter(call -> call.outcome() == Outcome.ALLOWED)
                    .toList();
            allowedStarts = allowed.stream().mapToLong(Operation::start).toArray();
            allowedEnds = allowed.stream().mapToLong(Operation::end).sorted().toArray();
            List<Operation> spends = calls.stream().filter(history::canSpend).toList();
            spendStarts = spends.stream().mapToLong(Operation::start).toArray();
            latest = spends.stream().mapToLong(history::latest).toArray();
            Arrays.parallelPrefix(latest, Math::max);
        }

        Optional<String> contradiction(Operation call) {
            return switch (call.outcome()) {
                case ALLOWED -> ofRemaining(call);
                case REJECTED, BLOCKED, DEGRADED_REJECTED ->
                    call.value() < 1
                            ? Optional.of("rejected without a wait")
                            : call.outcome() == Outcome.REJECTED && isExact() ? ofWait(call) : Optional.empty();
                default -> Optional.empty();
            };
        }

        /** Returns whether only time gives permits back, and only to all instances, and no other policy rejects a call. */
        private boolean isExact() {
            return policy.form() != Form.CONCURRENCY
                    && !policy.hasOwnKeys()
                    && !policy.more().containsKey("lease")
                    && !policy.more().containsKey("penalty.after");
        }

        private Optional<String> ofRemaining(Operation call) {
            long capacity = policy.burst() > 0 ? policy.burst() : policy.permits();
            long most = capacity - call.amount() - (policy.form() == Form.SLIDING_LOG ? surelySpent(call) : 0);
            return call.value() >= 0 && call.value() <= most
                    ? Optional.empty()
                    : Optional.of(call.value() + " permits remain, expected 0 to " + most);
        }

        /** Returns the least number of earlier calls in the window of a call. */
        private long surelySpent(Operation call) {
            long from = call.end() - lookBack + lookBack / CLOCK_PART;
            return history.isRenewed(from, call.end()) || isSteppedBack(call, call)
                    ? 0
                    : Math.max(0, Sorted.before(allowedEnds, call.start()) - Sorted.upTo(allowedStarts, from));
        }

        private boolean isSteppedBack(Operation first, Operation last) {
            return history.has(Fault.ALL, Effect.BEHIND, first.start() - 2 * lookBack, last.end());
        }

        private Optional<String> ofWait(Operation call) {
            if (isSteppedBack(call, call)) {
                return Optional.empty();
            }
            if (TimeUnit.SECONDS.toNanos(call.value() - 1) > lookBack) {
                return Optional.of("the wait of " + call.value() + " s is longer than the windows of " + policy.name());
            }
            int spends = Sorted.upTo(spendStarts, call.end());
            long quietFrom = spends == 0 ? Long.MIN_VALUE : latest[spends - 1];
            return rejected.subList(Sorted.upTo(rejectedStarts, quietFrom), rejected.size()).stream()
                    .takeWhile(earlier -> earlier.start() < call.start())
                    .filter(earlier -> due(earlier) < call.start() && !isSteppedBack(earlier, call))
                    .filter(earlier -> !history.isRenewed(earlier.start() - lookBack, call.start()))
                    .findFirst()
                    .map(earlier -> "rejected after the " + earlier.value() + " s of operation " + earlier.number()
                            + ", in which no call has spent");
        }

        private static long due(Operation rejection) {
            long wait = TimeUnit.SECONDS.toNanos(rejection.value());
            return rejection.end() + wait + wait / CLOCK_PART;
        }
    }
}
