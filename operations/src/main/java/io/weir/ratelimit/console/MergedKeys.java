// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.console.report.InstanceReport;
import io.weir.ratelimit.console.report.ReportCodec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The top keys of a policy over several instances, those with the most rejections, the most calls and the longest time near a limit first.
 * The bounds of a key are the sums of its bounds. An instance that does not list the key adds to the upper bound what a key without a place
 * in its list can have at most. The period is the longest of an instance. The minute is that of the instances that know their calls.
 */
record MergedKeys(
        List<Entry> rejected,
        List<Entry> active,
        List<NearLimit> nearLimit,
        Duration period,
        InstanceReport.Minute minute) {
    private static final Comparator<Entry> MOST_FIRST = Comparator.comparingLong(Entry::maxCount)
            .thenComparingLong(Entry::minCount)
            .reversed()
            .thenComparing(Entry::storedKey);
    private static final Comparator<NearLimit> LONGEST_FIRST =
            Comparator.comparing(NearLimit::duration).reversed().thenComparing(NearLimit::storedKey);

    /** A key with the bounds of its count, and the number of instances that list it. The stored key must not be shown. */
    record Entry(String storedKey, long minCount, long maxCount, double utilization, int instances) {
        private Entry plus(TopKeys.Entry other) {
            return new Entry(
                    storedKey,
                    minCount + other.minCount(),
                    maxCount + other.maxCount(),
                    Math.max(utilization, other.utilization()),
                    instances + 1);
        }
    }

    /** A key near a limit, with its longest time on an instance. The stored key must not be shown. */
    record NearLimit(String storedKey, Duration duration, int instances) {}

    /** Merges the keys of a policy. */
    static MergedKeys of(List<InstanceReport.PolicyKeys> keys) {
        return new MergedKeys(
                merge(keys, of -> of.top().rejected(), InstanceReport.PolicyKeys::otherRejected),
                merge(keys, of -> of.top().active(), InstanceReport.PolicyKeys::otherActive),
                nearLimit(keys),
                keys.stream()
                        .map(of -> of.top().period())
                        .max(Comparator.naturalOrder())
                        .orElse(Duration.ZERO),
                minute(keys));
    }

    private static InstanceReport.Minute minute(List<InstanceReport.PolicyKeys> keys) {
        Duration longest = Duration.ZERO;
        Map<String, Long> calls = new HashMap<>();
        for (InstanceReport.PolicyKeys ofInstance : keys) {
            InstanceReport.Minute minute = ofInstance.minute();
            longest = minute.period().compareTo(longest) > 0 ? minute.period() : longest;
            minute.calls().forEach((key, count) -> calls.merge(key, count, Long::sum));
        }
        return new InstanceReport.Minute(longest, calls);
    }

    private static List<Entry> merge(
            List<InstanceReport.PolicyKeys> keys,
            Function<InstanceReport.PolicyKeys, List<TopKeys.Entry>> list,
            ToLongFunction<InstanceReport.PolicyKeys> others) {
        Map<String, Entry> merged = new HashMap<>();
        Map<String, Long> listed = new HashMap<>();
        long allOthers = 0;
        for (InstanceReport.PolicyKeys ofInstance : keys) {
            long other = others.applyAsLong(ofInstance);
            allOthers += other;
            for (TopKeys.Entry entry : list.apply(ofInstance)) {
                merged.put(
                        entry.key(),
                        merged.getOrDefault(entry.key(), new Entry(entry.key(), 0, 0, 0, 0))
                                .plus(entry));
                listed.merge(entry.key(), other, Long::sum);
            }
        }
        List<Entry> entries = new ArrayList<>();
        for (Entry entry : merged.values()) {
            long unlisted = Math.max(0, allOthers - listed.getOrDefault(entry.storedKey(), 0L));
            entries.add(new Entry(
                    entry.storedKey(),
                    entry.minCount(),
                    entry.maxCount() + unlisted,
                    entry.utilization(),
                    entry.instances()));
        }
        return entries.stream().sorted(MOST_FIRST).limit(ReportCodec.MAX_KEYS).toList();
    }

    private static List<NearLimit> nearLimit(List<InstanceReport.PolicyKeys> keys) {
        Map<String, NearLimit> merged = new HashMap<>();
        for (InstanceReport.PolicyKeys ofInstance : keys) {
            for (TopKeys.NearLimit near : ofInstance.top().nearLimit()) {
                merged.merge(
                        near.key(),
                        new NearLimit(near.key(), near.duration(), 1),
                        (one, other) -> new NearLimit(
                                near.key(),
                                one.duration.compareTo(other.duration) > 0 ? one.duration : other.duration,
                                one.instances + other.instances));
            }
        }
        return merged.values().stream()
                .sorted(LONGEST_FIRST)
                .limit(ReportCodec.MAX_KEYS)
                .toList();
    }
}
