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
import io.weir.ratelimit.FailureMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Builds a history of one policy, or of two, by hand. Times are in milliseconds; an operation takes one. */
final class HistoryBuilder {
    private static final Duration DEADLINE = Duration.ofMillis(250);

    private final Policy policy;
    private final List<Operation> operations = new ArrayList<>();
    private final List<Fault> faults = new ArrayList<>();
    private final Map<String, Policy> policies = new HashMap<>();

    HistoryBuilder(Form form, long permits, Duration window, FailureMode mode) {
        this(form, permits, window, mode, Map.of());
    }

    HistoryBuilder(Form form, long permits, Duration window, FailureMode mode, Map<String, String> more) {
        policy = new Policy("p", form, permits, window, permits, mode, more);
        policies.put(policy.name(), policy);
    }

    /** Adds an operation of instance 0 with a cost or an amount of 1. */
    HistoryBuilder operation(long at, Kind kind, Outcome outcome) {
        return operation(0, at, kind, outcome, 1, 0, 0);
    }

    /** Adds an operation whose number is its place in the history, from 1. */
    HistoryBuilder operation(int instance, long at, Kind kind, Outcome outcome, long amount, long call, long value) {
        return operation(instance, at, at + 1, kind, outcome, amount, call, value);
    }

    HistoryBuilder operation(
            int instance, long start, long end, Kind kind, Outcome outcome, long amount, long call, long value) {
        return operation(policy, instance, start, end, kind, outcome, amount, call, value);
    }

    /** Adds a call with a cost of 1 under this policy and another one, with the results of both parts. */
    HistoryBuilder joint(long at, Outcome outcome, Policy other, Outcome ofOther) {
        long first = operations.size() + 1L;
        return operation(policy, 0, at, at + 1, Kind.ACQUIRE, outcome, 1, first + 1, 1)
                .operation(other, 0, at, at + 1, Kind.ACQUIRE, ofOther, 1, first, 1);
    }

    /** Adds a peek at another policy. */
    HistoryBuilder peek(long at, Policy other, long spent) {
        return operation(other, 0, at, at + 1, Kind.PEEK, Outcome.DONE, 0, 0, spent);
    }

    private HistoryBuilder operation(
            Policy of,
            int instance,
            long start,
            long end,
            Kind kind,
            Outcome outcome,
            long amount,
            long call,
            long value) {
        policies.put(of.name(), of);
        operations.add(new Operation(
                operations.size() + 1L,
                instance,
                kind,
                of.name(),
                "k",
                amount,
                call,
                nanos(start),
                outcome == Outcome.LOST ? Operation.NEVER : nanos(end),
                outcome,
                value,
                nanos(end - start),
                0));
        return this;
    }

    /** Adds as many operations as wanted, one millisecond apart. */
    HistoryBuilder operations(int count, long from, Kind kind, Outcome outcome) {
        for (int i = 0; i < count; i++) {
            operation(from + i, kind, outcome);
        }
        return this;
    }

    HistoryBuilder fault(Effect effect, int instance, long start, long end) {
        faults.add(new Fault(effect.name(), Set.of(effect), instance, nanos(start), nanos(end)));
        return this;
    }

    /** Adds a time in which the machine was too slow for an instance. */
    HistoryBuilder slow(String name, int instance, long start, long end) {
        faults.add(new Fault(name, Set.of(Effect.STARVATION), instance, nanos(start), nanos(end)));
        return this;
    }

    /** Adds a failover, in which Redis loses what it has received since its start. */
    HistoryBuilder failover(long start, long end) {
        faults.add(new Fault(
                "failover", Set.of(Effect.OUTAGE, Effect.LOSS, Effect.ROLLBACK), Fault.ALL, nanos(start), nanos(end)));
        return this;
    }

    private static long nanos(long millis) {
        return millis * 1_000_000;
    }

    History build() {
        return new History(1, 2, DEADLINE, policies, operations, faults, 0);
    }
}
