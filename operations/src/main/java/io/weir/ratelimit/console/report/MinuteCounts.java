// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console.report;

import io.weir.ratelimit.TopKeys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The calls of the busiest keys in about the last minute: the differences between their counts and those of an earlier report. Decisions
 * count nothing for it. A policy has none for half a minute after its oldest counts are dropped, once in five minutes.
 */
public final class MinuteCounts {
    /** The policies whose counts are kept: more than a report has room for. */
    static final int MAX_POLICIES = 100;

    /** The time between two records of counts. */
    static final Duration STEP = Duration.ofSeconds(15);

    private static final long LONGEST_NANOS = Duration.ofSeconds(65).toNanos();
    private static final long SHORTEST_NANOS = Duration.ofSeconds(30).toNanos();

    /** The greatest difference between two computed starts of the same counts. */
    private static final long TOLERANCE_NANOS = Duration.ofSeconds(1).toNanos();

    private final LongSupplier nanoTime;

    /** The records, the oldest first. Only the thread of the reports replaces them. */
    private volatile List<Counts> records = List.of();

    private record Counts(long nanos, Map<String, PolicyCounts> policies) {}

    /** The upper bounds of the counts of a policy, of the listed keys and of all others. */
    private record PolicyCounts(long startNanos, Map<String, Long> atMost, long others) {
        static PolicyCounts of(InstanceReport.PolicyKeys keys, long nanos) {
            Map<String, Long> atMost = new HashMap<>();
            keys.top().active().forEach(entry -> atMost.put(entry.key(), entry.maxCount()));
            return new PolicyCounts(nanos - keys.top().period().toNanos(), atMost, keys.otherActive());
        }

        boolean hasStart(long nanos) {
            return Math.abs(startNanos - nanos) < TOLERANCE_NANOS;
        }
    }

    /** Creates counts without a record, with a monotonic clock. */
    public MinuteCounts(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Keeps the counts of a report for later ones, unless the last ones are new enough. */
    public void record(List<InstanceReport.PolicyKeys> keys) {
        long now = nanoTime.getAsLong();
        List<Counts> kept = new ArrayList<>(records);
        if (!kept.isEmpty() && now - kept.get(kept.size() - 1).nanos < STEP.toNanos()) {
            return;
        }
        Map<String, PolicyCounts> policies = new HashMap<>();
        keys.stream()
                .limit(MAX_POLICIES)
                .forEach(ofPolicy -> policies.put(ofPolicy.policy(), PolicyCounts.of(ofPolicy, now)));
        kept.removeIf(counts -> now - counts.nanos > LONGEST_NANOS);
        kept.add(new Counts(now, policies));
        records = List.copyOf(kept);
    }

    /** Returns keys with their calls of the last minute, as far as the records have them. */
    InstanceReport.PolicyKeys with(InstanceReport.PolicyKeys keys) {
        return new InstanceReport.PolicyKeys(
                keys.policy(), keys.top(), keys.otherRejected(), keys.otherActive(), minute(keys));
    }

    private InstanceReport.Minute minute(InstanceReport.PolicyKeys keys) {
        Duration period = keys.top().period();
        if (period.isZero()) {
            return InstanceReport.Minute.NONE;
        }
        if (period.toNanos() <= LONGEST_NANOS) {
            Map<String, Long> calls = new HashMap<>();
            keys.top().active().forEach(entry -> calls.put(entry.key(), entry.minCount()));
            return new InstanceReport.Minute(period, calls);
        }
        long now = nanoTime.getAsLong();
        for (Counts counts : records) {
            PolicyCounts before = counts.policies.get(keys.policy());
            long age = now - counts.nanos;
            if (before != null
                    && age <= LONGEST_NANOS
                    && age >= SHORTEST_NANOS
                    && before.hasStart(now - period.toNanos())) {
                return new InstanceReport.Minute(
                        Duration.ofMillis(age / 1_000_000), calls(keys.top().active(), before));
            }
        }
        return InstanceReport.Minute.NONE;
    }

    private static Map<String, Long> calls(List<TopKeys.Entry> now, PolicyCounts before) {
        Map<String, Long> calls = new HashMap<>();
        for (TopKeys.Entry entry : now) {
            long atMostBefore = before.atMost.getOrDefault(entry.key(), before.others);
            calls.put(entry.key(), Math.max(0, entry.minCount() - atMostBefore));
        }
        return calls;
    }
}
