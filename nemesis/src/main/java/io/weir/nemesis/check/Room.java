// SPDX-License-Identifier: Apache-2.0
package io.weir.nemesis.check;

import io.weir.nemesis.history.Fault;
import io.weir.nemesis.history.Fault.Effect;
import io.weir.nemesis.history.History;
import io.weir.nemesis.history.History.Span;
import io.weir.nemesis.history.Operation;
import io.weir.nemesis.history.Operation.Outcome;
import io.weir.nemesis.history.Policy;
import io.weir.nemesis.history.Policy.Form;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The most permits of a limit that the calls of a key can have spent, whenever they were decided. */
final class Room {
    /** The clock of an instance, which repeats rejections, and that of Redis differ by less than this part. */
    private static final long CLOCK_PART = 1_000;

    /** For so long does an instance repeat a rejection (redis.md, "Rejections from memory"). */
    private static final Duration REPEATED = Duration.ofSeconds(1);

    /** For so long does an instance reject calls of a leased key from memory (leases.md, "Overload"). */
    private static final Duration HELD = Duration.ofMillis(20);

    private final History history;
    private final Policy policy;
    private final long lookBack;

    /** The times at which the key can have state from the future. */
    private final List<Span> stale;

    /** The permits of all spends that have started, or can have been decided, before an instant. */
    private final TreeMap<Long, Long> started = new TreeMap<>();

    private final TreeMap<Long, Long> decided = new TreeMap<>();

    /** The missing permits of a bucket after the latest instants of its spends. */
    private final TreeMap<Long, Double> missing = new TreeMap<>();

    /** Prepares the acquires of one key. */
    Room(History history, List<Operation> calls) {
        this.history = history;
        this.policy = history.policy(calls.get(0));
        this.stale = history.faults(Fault.ALL, Effect.BEHIND)
                .map(step -> new Span(
                        step.start(), Math.min(history.extended(step.start(), step.end()), decidedAfter(step, calls))))
                .toList();
        long window = policy.window().toNanos();
        this.lookBack = isBucket()
                ? Math.max(window, window * policy.burst() / policy.permits())
                : window * (policy.form() == Form.SLIDING_WINDOW ? 2 : 1);
        List<Step> spends = calls.stream()
                .filter(call -> history.canSpend(call) || call.isJoint())
                .map(call -> new Step(call.start(), latest(call), call.amount()))
                .toList();
        sum(
                started,
                spends.stream().sorted(Comparator.comparingLong(Step::from)).toList(),
                true);
        sum(decided, spends.stream().sorted(Comparator.comparingLong(Step::to)).toList(), false);
        if (isBucket()) {
            fill(spends);
        }
    }

    /**
     * Returns when Redis has decided a call after a step back of its clock: from then on, state from the future counts as of that instant.
     * Of a leased key, the instances decide most calls.
     */
    private long decidedAfter(Fault step, List<Operation> calls) {
        if (policy.more().containsKey("lease")) {
            return Long.MAX_VALUE;
        }
        return calls.stream()
                .filter(call -> call.outcome() == Outcome.ALLOWED
                        ? call.start() > step.end()
                        : call.outcome() == Outcome.REJECTED && call.start() > step.end() + REPEATED.toNanos())
                .mapToLong(Operation::end)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Returns when a call can have spent at the latest. A part that is refunded does not count for a whole window. */
    private long latest(Operation call) {
        if (history.canSpend(call)) {
            return history.latest(call);
        }
        long refunded = history.refunded(call);
        return refunded == Operation.NEVER ? refunded : refunded - lookBack - lookBack / CLOCK_PART;
    }

    private record Step(long from, long to, long permits) {}

    private static void sum(TreeMap<Long, Long> sums, List<Step> sorted, boolean isStart) {
        long sum = 0;
        for (Step step : sorted) {
            sum += step.permits;
            sums.put(isStart ? step.from : step.to, sum);
        }
    }

    private boolean isBucket() {
        return policy.form() == Form.TOKEN_BUCKET || policy.form() == Form.LEAKY_BUCKET;
    }

    /** A bucket lacks most permits if its calls are decided late. With state from the future, all of them can be missing. */
    private void fill(List<Step> spends) {
        Stream<Step> steps = stale.stream().map(span -> new Step(span.from(), span.to(), policy.burst()));
        List<Step> all = Stream.concat(spends.stream(), steps)
                .sorted(Comparator.comparingLong(Step::to))
                .toList();
        for (Step step : all) {
            missing.put(step.to, Math.min(policy.burst(), missing(step.to) + step.permits));
        }
    }

    /** Returns the missing permits of a bucket at an instant. */
    private double missing(long at) {
        var last = missing.floorEntry(at);
        double returned = last == null
                ? 0
                : (double) (at - last.getKey())
                        * policy.permits()
                        / policy.window().toNanos();
        return last == null ? 0 : Math.max(0, last.getValue() - returned * (1 - 1.0 / CLOCK_PART));
    }

    private static long before(TreeMap<Long, Long> sums, long instant, boolean inclusive) {
        var last = sums.headMap(instant, inclusive).lastEntry();
        return last == null ? 0 : last.getValue();
    }

    /** Returns why a call that is rejected had room under this limit; empty if it can have had none. */
    Optional<String> of(Operation rejected) {
        long unused = history.instances() * Long.parseLong(policy.more().getOrDefault("lease", "0"));
        if (isExcepted(rejected, unused > 0)) {
            return Optional.empty();
        }
        long capacity = isBucket() ? policy.burst() : policy.permits();
        double spent = spent(rejected, unused > 0);
        return spent + rejected.amount() + unused > capacity
                ? Optional.empty()
                : Optional.of("rejected although at most " + Math.round(spent) + " permits of " + policy.name()
                        + " are spent");
    }

    private double spent(Operation rejected, boolean isLeased) {
        long possible = before(started, rejected.end(), true)
                - (rejected.isJoint() && !history.canSpend(rejected) ? rejected.amount() : 0);
        if (isBucket()) {
            return missing(rejected.start()) + possible - before(decided, rejected.start(), true);
        }
        long from = rejected.start() - lookBack - lookBack / CLOCK_PART - (isLeased ? HELD.toNanos() : 0);
        return possible - before(decided, from, false);
    }

    /**
     * State from the future counts for a look-back more. A killed instance and a lost reply can leave leased permits unused until the end of
     * their window (leases.md, "Unused permits").
     */
    private boolean isExcepted(Operation rejected, boolean isLeased) {
        long last = rejected.start() - lookBack - lookBack / CLOCK_PART;
        long from = rejected.start() - 2 * lookBack;
        return stale.stream().anyMatch(span -> span.overlaps(last, rejected.end()))
                || (isLeased
                        && Stream.of(Effect.OUTAGE, Effect.DEATH, Effect.PAUSE, Effect.STARVATION)
                                .anyMatch(effect -> history.has(Fault.ALL, effect, from, rejected.end())));
    }
}
