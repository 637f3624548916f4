// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.topkeys.SpaceSaving.Bounds;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The most frequent keys of one policy in the current period and in the previous one, and its keys near a limit. An older period is
 * dropped as a whole.
 */
final class RecentKeys {
    static final int SHOWN = 20;

    static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(5);

    private final NearLimitKeys nearLimit = new NearLimitKeys();
    private volatile Period now;

    private static final class Period {
        private final long startNanos;
        private final SpaceSaving active = new SpaceSaving();

        /** Created by the first rejection, because most policies reject no call. */
        private volatile @Nullable SpaceSaving rejected;

        private volatile @Nullable Period before;

        private Period(long startNanos, @Nullable Period before) {
            this.startNanos = startNanos;
            this.before = before;
        }

        /** Returns this period and the previous one, if that one still counts. */
        private List<Period> all() {
            Period older = before;
            return older == null ? List.of(this) : List.of(older, this);
        }

        private SpaceSaving rejections() {
            SpaceSaving created = rejected;
            if (created == null) {
                synchronized (this) {
                    created = rejected;
                    if (created == null) {
                        created = new SpaceSaving();
                        rejected = created;
                    }
                }
            }
            return created;
        }
    }

    RecentKeys(long nanos) {
        this.now = new Period(nanos, null);
    }

    /** The counter that a key has in a period. It does not refer to the period, so that it does not keep it in memory. */
    static final class Place {
        private final RecentKeys keys;
        private final long startNanos;
        private final SpaceSaving.Counter counter;

        private Place(RecentKeys keys, long startNanos, SpaceSaving.Counter counter) {
            this.keys = keys;
            this.startNanos = startNanos;
            this.counter = counter;
        }
    }

    /**
     * Counts an allowed call of a key at the place that was returned for its last call. Returns false, and does not count, if the period
     * has ended or if another key has the counter.
     */
    static boolean count(Place place, String storedKey, Decision decision, int charge, long nanos) {
        RecentKeys keys = place.keys;
        if (keys.at(nanos).startNanos != place.startNanos || !place.counter.add()) {
            return false;
        }
        int utilization = Utilization.of(decision, charge);
        place.counter.raise(utilization);
        keys.countNear(storedKey, decision, charge, utilization, nanos);
        return true;
    }

    /** Counts a call of a key by the result of its charge. Returns the place of its counter, null if it has none. */
    @Nullable
    Place count(String storedKey, Decision decision, int charge, boolean rejected, long nanos) {
        int utilization = Utilization.of(decision, charge);
        Period period = at(nanos);
        SpaceSaving.Counter counter = period.active.count(storedKey, utilization);
        if (rejected) {
            period.rejections().count(storedKey, utilization);
        }
        countNear(storedKey, decision, charge, utilization, nanos);
        return counter == null ? null : new Place(this, period.startNanos, counter);
    }

    private void countNear(String storedKey, Decision decision, int charge, int utilization, long nanos) {
        if (utilization >= Utilization.NEAR) {
            long window = Utilization.nearWindowNanos(decision, charge);
            if (window > 0) {
                nearLimit.count(storedKey, window, nanos);
            }
        }
    }

    private Period at(long nanos) {
        Period period = now;
        return nanos - period.startNanos < PERIOD_NANOS ? period : advanced(nanos);
    }

    private synchronized Period advanced(long nanos) {
        Period last = now;
        long age = nanos - last.startNanos;
        if (age >= PERIOD_NANOS) {
            last.before = null;
            now = new Period(nanos, age < 2 * PERIOD_NANOS ? last : null);
        }
        return now;
    }

    TopKeys top(UnaryOperator<String> shown, long nanos) {
        List<Period> periods = at(nanos).all();
        return new TopKeys(
                top(periods, period -> period.rejected, shown),
                top(periods, period -> period.active, shown),
                nearLimit.at(nanos).stream()
                        .limit(SHOWN)
                        .map(near -> new TopKeys.NearLimit(shown.apply(near.key()), Duration.ofNanos(near.nanos())))
                        .toList(),
                Duration.ofNanos(Math.max(0, nanos - periods.get(0).startNanos)));
    }

    /** Returns the longest time for which a key has been near a limit. */
    Duration longestNearLimit(long nanos) {
        return nearLimit.at(nanos).stream()
                .findFirst()
                .map(longest -> Duration.ofNanos(longest.nanos()))
                .orElse(Duration.ZERO);
    }

    /** Returns the counts of rejections of the current period and of the previous one. */
    List<SpaceSaving> rejections() {
        return sketches(now.all(), period -> period.rejected);
    }

    private static List<SpaceSaving> sketches(List<Period> periods, Function<Period, @Nullable SpaceSaving> kind) {
        return periods.stream().map(kind).filter(sketch -> sketch != null).toList();
    }

    private static List<TopKeys.Entry> top(
            List<Period> periods, Function<Period, @Nullable SpaceSaving> kind, UnaryOperator<String> shown) {
        List<SpaceSaving> sketches = sketches(periods, kind);
        List<CountedKey> most = sketches.stream()
                .flatMap(sketch -> sketch.keys().stream())
                .distinct()
                .map(key -> CountedKey.in(sketches, key))
                .sorted(CountedKey.MOST_FIRST)
                .limit(SHOWN)
                .toList();
        // The last key of a full list must also bound the keys without a counter.
        long others = most.size() < SHOWN
                ? 0
                : sketches.stream().mapToLong(SpaceSaving::maxOfOthers).sum();
        return most.stream()
                .map(counted -> new TopKeys.Entry(
                        shown.apply(counted.key),
                        counted.bounds.atLeast(),
                        Math.max(others, counted.bounds.atMost()),
                        (double) utilization(sketches, counted.key) / Utilization.FULL))
                .toList();
    }

    private static int utilization(List<SpaceSaving> sketches, String key) {
        return sketches.stream()
                .mapToInt(sketch -> sketch.utilization(key))
                .max()
                .orElse(0);
    }

    private record CountedKey(String key, Bounds bounds) {
        private static final Comparator<CountedKey> MOST_FIRST = Comparator.comparingLong(
                        (CountedKey counted) -> counted.bounds.atMost())
                .thenComparingLong(counted -> counted.bounds.atLeast())
                .reversed()
                .thenComparing(CountedKey::key);

        private static CountedKey in(List<SpaceSaving> sketches, String key) {
            return new CountedKey(
                    key, sketches.stream().map(sketch -> sketch.bounds(key)).reduce(new Bounds(0, 0), Bounds::plus));
        }
    }

    /** Returns the stored keys that have a counter or are near a limit. */
    Set<String> storedKeys() {
        Set<String> storedKeys = new LinkedHashSet<>(nearLimit.keys());
        now.all().forEach(period -> {
            storedKeys.addAll(period.active.keys());
            SpaceSaving rejected = period.rejected;
            if (rejected != null) {
                storedKeys.addAll(rejected.keys());
            }
        });
        return storedKeys;
    }
}
