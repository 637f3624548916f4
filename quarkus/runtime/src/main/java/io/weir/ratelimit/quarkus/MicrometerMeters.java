// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.weir.ratelimit.core.metrics.Meters;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleConsumer;
import java.util.function.LongConsumer;

/** The meters of Micrometer. */
record MicrometerMeters(MeterRegistry registry) implements Meters {
    private static final Duration[] DURATIONS = SECONDS.stream()
            .map(seconds -> Duration.ofNanos(Math.round(seconds * 1e9)))
            .toArray(Duration[]::new);

    @Override
    public Runnable counter(Meters.Metric metric, String... tagsAndValues) {
        return Counter.builder(metric.label())
                .description(metric.description())
                .tags(tagsAndValues)
                .register(registry)::increment;
    }

    @Override
    public LongConsumer timer(Meters.Metric metric, String... tagsAndValues) {
        Timer timer = Timer.builder(metric.label())
                .description(metric.description())
                .tags(tagsAndValues)
                .serviceLevelObjectives(DURATIONS)
                .register(registry);
        return nanos -> timer.record(nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public DoubleConsumer ratios(Meters.Metric metric, String... tagsAndValues) {
        return summary(metric, RATIOS, tagsAndValues)::record;
    }

    @Override
    public LongConsumer sizes(Meters.Metric metric) {
        return summary(metric, SIZES)::record;
    }

    @Override
    public LongConsumer gauge(Meters.Metric metric, String... tagsAndValues) {
        AtomicLong value = new AtomicLong();
        Gauge unused = Gauge.builder(metric.label(), value, AtomicLong::get)
                .description(metric.description())
                .tags(tagsAndValues)
                .strongReference(true)
                .register(registry);
        return value::set;
    }

    private DistributionSummary summary(Meters.Metric metric, List<Double> buckets, String... tagsAndValues) {
        return DistributionSummary.builder(metric.label())
                .description(metric.description())
                .tags(tagsAndValues)
                .serviceLevelObjectives(
                        buckets.stream().mapToDouble(Double::doubleValue).toArray())
                .register(registry);
    }
}
