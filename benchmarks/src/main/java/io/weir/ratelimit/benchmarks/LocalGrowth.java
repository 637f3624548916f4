// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.benchmarks.comparison.GrowthOptions;
import io.weir.ratelimit.benchmarks.comparison.GrowthRow;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;

/** The time of single decisions in process, by the number of keys of a full table. */
final class LocalGrowth {
    private static final List<Integer> KEYS = List.of(10_000, 100_000, 1_000_000);
    private static final List<Integer> QUICK_KEYS = List.of(1_000, 10_000, 100_000);
    private static final int DECISIONS = 1_000_000;
    private static final Duration WINDOW = Duration.ofHours(1);

    /** A prime that divides none of the numbers of keys, so that successive calls use distant keys, and each key once per cycle. */
    private static final long STRIDE = 7_368_787;

    private final AtomicLong nowMicros = new AtomicLong(TimeUnit.DAYS.toMicros(1));
    private final RateLimitEngine engine;
    private final Binding binding =
            LocalEngines.binding("ip", Limit.of(Algorithm.SLIDING_WINDOW, 1_000_000_000, WINDOW));

    /**
     * The times of the decisions of one table.
     *
     * @param stored those of stored keys
     * @param approximate those of new keys, for which the full table has no place
     * @param replacing those of new keys after all stored keys have become untouched
     */
    private record Times(DecisionTimes stored, DecisionTimes approximate, DecisionTimes replacing) {}

    private LocalGrowth(int keys) {
        engine = LocalEngines.engine(
                List.of(),
                new TopKeysTracker(new KeyMasker(Optional.empty()), System::nanoTime),
                new LocalBackend(keys, nowMicros::get));
    }

    static List<GrowthRow> measure(GrowthOptions options) {
        List<Times> all = new ArrayList<>();
        List<Integer> sizes = options.sizes(KEYS, QUICK_KEYS);
        // The first run compiles the code.
        new LocalGrowth(QUICK_KEYS.get(1)).measure(QUICK_KEYS.get(1));
        for (int keys : sizes) {
            all.add(new LocalGrowth(keys).measure(keys));
        }
        String name = String.format(
                Locale.ROOT, "`max-keys` of %,d, %,d, %,d, all used", sizes.get(0), sizes.get(1), sizes.get(2));
        List<GrowthRow> rows = new ArrayList<>();
        rows.addAll(rows(name, "stored keys", all.stream().map(Times::stored).toList()));
        rows.addAll(rows(
                name,
                "new keys without a place",
                all.stream().map(Times::approximate).toList()));
        rows.addAll(rows(
                name,
                "new keys after the others expired",
                all.stream().map(Times::replacing).toList()));
        return rows;
    }

    private static List<GrowthRow> rows(String name, String calls, List<DecisionTimes> times) {
        return List.of(
                row(name, calls + ": p99 of a decision, µs", times, each -> each.percentileMicros(0.99)),
                row(
                        name,
                        calls + ": longest processor time of " + DecisionTimes.BLOCK + " decisions, ms",
                        times,
                        DecisionTimes::longestCpuMillis),
                row(name, calls + ": longest pause of the collector, ms", times, DecisionTimes::longestPauseMillis));
    }

    private static GrowthRow row(
            String name, String figure, List<DecisionTimes> times, ToDoubleFunction<DecisionTimes> value) {
        return new GrowthRow(
                name, figure, times.stream().map(value::applyAsDouble).toList());
    }

    private Times measure(int keys) {
        for (int key = 0; key < keys; key++) {
            decide(call(key));
        }
        DecisionTimes stored = times(DECISIONS, i -> call((int) (i * STRIDE % keys)));
        DecisionTimes approximate = times(DECISIONS, i -> call(keys + i));
        nowMicros.addAndGet(WINDOW.multipliedBy(3).toMillis() * 1_000);
        return new Times(stored, approximate, times(keys, i -> call(i + keys)));
    }

    private DecisionTimes times(int count, IntFunction<LocalEngines.AddressCall> calls) {
        // Otherwise the collector would move the new table during the measurement.
        System.gc();
        return DecisionTimes.of(count, calls, this::decide);
    }

    private void decide(LocalEngines.AddressCall call) {
        if (!engine.decide(binding, call, null).allowed()) {
            throw new IllegalStateException("no call must be rejected");
        }
    }

    private static LocalEngines.AddressCall call(int number) {
        return new LocalEngines.AddressCall(
                "10." + (number >> 16 & 0xff) + "." + (number >> 8 & 0xff) + "." + (number & 0xff));
    }
}
