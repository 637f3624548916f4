// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A reader of the keys with the most rejections since its last reading. It compares the counts of the tracker, so it costs a call nothing.
 * Only one thread at a time may read.
 */
public final class RejectedKeys {
    private static final Comparator<Entry> MOST_FIRST = Comparator.comparingLong(Entry::rejections)
            .reversed()
            .thenComparing(Entry::policy)
            .thenComparing(Entry::key);

    private final TopKeysTracker tracker;
    private Map<SpaceSaving, Map<String, Long>> last = Map.of();

    /** A key with a lower bound of its rejections, 1 or more. */
    public record Entry(String policy, String key, long rejections) {}

    /** Creates a reader. Its first reading includes all that the tracker still counts. */
    public RejectedKeys(TopKeysTracker tracker) {
        this.tracker = tracker;
    }

    /** Returns the keys of all policies with the most rejections since the last reading, the most rejections first. */
    public List<Entry> next(int most) {
        Map<SpaceSaving, Map<String, Long>> current = new HashMap<>();
        List<Entry> entries = new ArrayList<>();
        tracker.rejections().forEach((policy, sketches) -> {
            Map<String, Long> increases = new HashMap<>();
            for (SpaceSaving sketch : sketches) {
                Map<String, Long> counts = counts(sketch);
                current.put(sketch, counts);
                Map<String, Long> before = last.getOrDefault(sketch, Map.of());
                counts.forEach(
                        (key, count) -> increases.merge(key, increase(before.getOrDefault(key, 0L), count), Long::sum));
            }
            increases.values().removeIf(increase -> increase == 0);
            increases.forEach((key, increase) -> entries.add(new Entry(policy, key, increase)));
        });
        last = current;
        return entries.stream()
                .sorted(MOST_FIRST)
                .limit(most)
                .map(entry -> new Entry(entry.policy, tracker.masked(entry.key), entry.rejections))
                .toList();
    }

    private static Map<String, Long> counts(SpaceSaving sketch) {
        Map<String, Long> counts = new HashMap<>();
        sketch.keys().forEach(key -> counts.put(key, sketch.bounds(key).atLeast()));
        return counts;
    }

    /** Returns the increase of a lower bound. A key that lost its counter and has a new one starts again at 1. */
    private static long increase(long before, long now) {
        return now >= before ? now - before : now;
    }
}
