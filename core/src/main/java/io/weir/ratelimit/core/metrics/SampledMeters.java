// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleConsumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * Meters of a backend in process, which decides in less time than a histogram needs for a value. They count each event, and record only a
 * part of the values of histograms if there are many.
 */
public final class SampledMeters implements Meters {
    private final Meters meters;
    private final Supplier<Sampling> samplings;

    /** The choices. All series of a timer have one, so that their counts can be compared. */
    private final Map<List<String>, Sampling> known = new ConcurrentHashMap<>();

    public SampledMeters(Meters meters, Supplier<Sampling> samplings) {
        this.meters = meters;
        this.samplings = samplings;
    }

    private Sampling sampling(List<String> series) {
        return known.computeIfAbsent(series, first -> samplings.get());
    }

    @Override
    public Runnable counter(Meters.Metric metric, String... tagsAndValues) {
        return meters.counter(metric, tagsAndValues);
    }

    @Override
    public LongConsumer timer(Meters.Metric metric, String... tagsAndValues) {
        LongConsumer timer = meters.timer(metric, tagsAndValues);
        Sampling sampling = sampling(List.of(metric.name()));
        return nanos -> {
            if (sampling.next()) {
                timer.accept(nanos);
            }
        };
    }

    @Override
    public DoubleConsumer ratios(Meters.Metric metric, String... tagsAndValues) {
        DoubleConsumer ratios = meters.ratios(metric, tagsAndValues);
        Sampling sampling = sampling(List.of(tagsAndValues));
        return ratio -> {
            if (sampling.next()) {
                ratios.accept(ratio);
            }
        };
    }

    @Override
    public LongConsumer sizes(Meters.Metric metric) {
        return meters.sizes(metric);
    }

    @Override
    public LongConsumer gauge(Meters.Metric metric, String... tagsAndValues) {
        return meters.gauge(metric, tagsAndValues);
    }
}
