// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.history;

import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy.Form;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The operations of the instances and of the nemesis.
 *
 * @param seed the seed of the run
 * @param instances the number of instances
 * @param deadline the configured deadline of decisions
 * @param policies the policies by name
 * @param operations the operations, in the order of their starts
 * @param faults the faults, in the order of their starts
 * @param start the start of the run
 */
public record History(
        long seed,
        int instances,
        Duration deadline,
        Map<String, Policy> policies,
        List<Operation> operations,
        List<Fault> faults,
        long start) {
    /** The time of a refund to Redis, and a second in which an instance repeats a rejection (redis.md, "Rejections from memory"). */
    private static final Duration REFUNDED_WITHIN = Duration.ofSeconds(3);

    /** Redis can run an operation without a reply until this time after a fault. */
    private static final Duration LATE = Duration.ofSeconds(5);

    /** Up to two seconds until the next attempt to connect (failures.md, "Results"), and one until the next probe of the breaker. */
    private static final Duration PROBED_WITHIN = Duration.ofSeconds(3);

    /** Copies the collections and puts them in order. */
    public History {
        policies = Map.copyOf(policies);
        operations = operations.stream()
                .sorted(Comparator.comparingLong(Operation::start))
                .toList();
        faults = faults.stream().sorted(Comparator.comparingLong(Fault::start)).toList();
    }

    /** A span of time, including both instants. */
    public record Span(long from, long to) {
        /** Returns whether another span has a common instant with this one. */
        public boolean overlaps(long otherFrom, long otherTo) {
            return from <= otherTo && to >= otherFrom;
        }
    }

    /** Returns the time of the operations, from the start of the first one to that of the last one. */
    public Span time() {
        return operations.isEmpty()
                ? new Span(start, start)
                : new Span(
                        operations.get(0).start(),
                        operations.get(operations.size() - 1).start());
    }

    /** Returns the time of the operations in which the machine was too slow for one of the processes at least. */
    public Duration slowTime() {
        Span time = time();
        Stream<Fault> slow = faults.stream().filter(Fault::isSlow);
        return Duration.ofNanos(merged(slow, Duration.ZERO).stream()
                .mapToLong(span -> Math.min(span.to(), time.to()) - Math.max(span.from(), time.from()))
                .filter(nanos -> nanos > 0)
                .sum());
    }

    /** Returns the longest time after an outage until an instance uses Redis again. */
    public Duration recovery() {
        return PROBED_WITHIN.plus(deadline);
    }

    /** Returns the operations of a kind by policy and key. */
    public Map<String, List<Operation>> bySubject(Predicate<Operation> selection) {
        Map<String, List<Operation>> found = new LinkedHashMap<>();
        for (Operation operation : operations) {
            if (selection.test(operation)) {
                found.computeIfAbsent(operation.subject(), any -> new ArrayList<>())
                        .add(operation);
            }
        }
        return found;
    }

    /** Returns the policy of an operation. */
    public Policy policy(Operation operation) {
        return policies.get(operation.policy());
    }

    /** Returns the faults with an effect on an instance. */
    public Stream<Fault> faults(int instance, Effect effect) {
        return faults.stream().filter(fault -> fault.affects(instance, effect));
    }

    /**
     * Returns the times of an effect on an instance. Times with less than a gap between them count as one.
     *
     * @param instance the instance, {@link Fault#ALL} for any
     */
    public List<Span> times(int instance, Effect effect, Duration gap) {
        return merged(faults(instance, effect), gap);
    }

    /** Returns the times at which an instance cannot renew or release slots in time. Times with less than a gap between them count as one. */
    public List<Span> cutOff(int instance, Duration gap) {
        return merged(
                faults.stream()
                        .filter(fault -> fault.affects(instance, Effect.OUTAGE)
                                || fault.affects(instance, Effect.PAUSE)
                                || fault.affects(instance, Effect.STARVATION)),
                gap);
    }

    /** Returns whether a call has spent permits, or can have spent them or spend them later. */
    public boolean canSpend(Operation call) {
        return call.outcome() == Outcome.ALLOWED || call.isUnknown() || isOverdue(call);
    }

    /** After the deadline, an instance rejects a call if it knows a rejection meanwhile, and Redis can allow it (when-redis-is-away.md). */
    private boolean isOverdue(Operation call) {
        return call.outcome() == Outcome.REJECTED && call.took() >= deadline.toNanos();
    }

    /**
     * Returns the latest instant at which Redis can have run an operation. Without a known result, Redis can run it later: when the way to
     * Redis is open again, and after the replies to all that is sent before it.
     */
    public long latest(Operation operation) {
        if (!operation.isUnknown() && !isOverdue(operation)) {
            return operation.end();
        }
        boolean isLost = operation.outcome() == Outcome.LOST;
        long end = isLost ? operation.start() : operation.end();
        for (Span span : cutOff(isLost ? Fault.ALL : operation.instance(), LATE)) {
            if (span.overlaps(operation.start(), end + LATE.toNanos())) {
                end = Math.max(end, span.to());
            }
        }
        return end + LATE.toNanos();
    }

    /**
     * Returns the latest instant at which a part of a rejected acquire under two policies can be spent, because it is in another slot of a
     * cluster than the part that has lost its permits to another call (redis-cluster.md, "Several slots").
     *
     * @return the instant, {@link Operation#NEVER} if the part can stay spent
     */
    public long refunded(Operation part) {
        long end = part.end() + REFUNDED_WITHIN.toNanos();
        if (has(Fault.ALL, Effect.OUTAGE, part.start(), end) || has(Fault.ALL, Effect.DEATH, part.start(), end)) {
            return Operation.NEVER;
        }
        for (Span span : cutOff(Fault.ALL, REFUNDED_WITHIN)) {
            if (span.overlaps(part.start(), end)) {
                end = span.to() + REFUNDED_WITHIN.toNanos();
            }
        }
        return end;
    }

    /**
     * Returns the times at which limits of a form can begin with new state: Redis has lost its data, or its clock has stepped forward. After
     * a step back, a period of a calendar limit can begin again.
     */
    public List<Span> renewals(Form form) {
        return merged(
                faults.stream()
                        .filter(fault -> fault.affects(Fault.ALL, Effect.LOSS)
                                || fault.affects(Fault.ALL, Effect.AHEAD)
                                || (form == Form.CALENDAR && fault.affects(Fault.ALL, Effect.BEHIND))),
                Duration.ZERO);
    }

    /** Returns whether limits can have begun with new state in a span of time. */
    public boolean isRenewed(long from, long to) {
        return has(Fault.ALL, Effect.LOSS, from, to) || has(Fault.ALL, Effect.AHEAD, from, to);
    }

    /** Returns by how many nanoseconds steps back of the clock of Redis can extend something in a span of time. */
    public long extension(long from, long to) {
        return faults(Fault.ALL, Effect.BEHIND)
                        .filter(fault -> fault.overlaps(from, to))
                        .count()
                * Fault.MOST_STEP.toNanos();
    }

    /** Returns the latest end of what would end at an instant, if steps back of the clock of Redis after another one extend it. */
    public long extended(long from, long end) {
        long latest = end;
        for (long next = end + extension(from, end); next > latest; next = end + extension(from, latest)) {
            latest = next;
        }
        return latest;
    }

    private static List<Span> merged(Stream<Fault> found, Duration gap) {
        List<Span> spans = new ArrayList<>();
        found.forEach(fault -> {
            Span last = spans.isEmpty() ? null : spans.get(spans.size() - 1);
            if (last != null && fault.start() - last.to() < gap.toNanos()) {
                spans.set(spans.size() - 1, new Span(last.from(), Math.max(last.to(), fault.end())));
            } else {
                spans.add(new Span(fault.start(), fault.end()));
            }
        });
        return spans;
    }

    /** Returns whether an effect on an instance overlaps a span of time. */
    public boolean has(int instance, Effect effect, long from, long to) {
        return faults(instance, effect).anyMatch(fault -> fault.overlaps(from, to));
    }
}
