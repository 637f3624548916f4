// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.LongCounter;
import io.opentelemetry.api.metrics.LongUpDownCounter;
import io.opentelemetry.api.metrics.Meter;
import io.weir.ratelimit.core.metrics.Meters;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleConsumer;
import java.util.function.LongConsumer;

/**
 * The meters of the server, with the names, units and buckets of the applications.
 *
 * @param meter the meter of OpenTelemetry
 */
record ServerMeters(Meter meter) implements Meters {
    private static final double SECOND = 1e9;

    /** Records a 0, because the SDK exports no series before its first value, and an increase to the first event would be lost. */
    @Override
    public Runnable counter(Meters.Metric metric, String... tagsAndValues) {
        LongCounter counter = meter.counterBuilder(metric.label())
                .setDescription(metric.description())
                .build();
        Attributes attributes = attributes(tagsAndValues);
        counter.add(0, attributes);
        return () -> counter.add(1, attributes);
    }

    @Override
    public LongConsumer timer(Meters.Metric metric, String... tagsAndValues) {
        DoubleHistogram histogram = histogram(metric, "s", SECONDS);
        Attributes attributes = attributes(tagsAndValues);
        return nanos -> histogram.record(nanos / SECOND, attributes);
    }

    @Override
    public DoubleConsumer ratios(Meters.Metric metric, String... tagsAndValues) {
        DoubleHistogram histogram = histogram(metric, "1", RATIOS);
        Attributes attributes = attributes(tagsAndValues);
        return ratio -> histogram.record(ratio, attributes);
    }

    @Override
    public LongConsumer sizes(Meters.Metric metric) {
        return histogram(metric, "1", SIZES)::record;
    }

    @Override
    public LongConsumer gauge(Meters.Metric metric, String... tagsAndValues) {
        LongUpDownCounter counter = meter.upDownCounterBuilder(metric.label())
                .setDescription(metric.description())
                .build();
        Attributes attributes = attributes(tagsAndValues);
        counter.add(0, attributes);
        AtomicLong previous = new AtomicLong();
        return value -> counter.add(value - previous.getAndSet(value), attributes);
    }

    private DoubleHistogram histogram(Meters.Metric metric, String unit, List<Double> buckets) {
        return meter.histogramBuilder(metric.label())
                .setDescription(metric.description())
                .setUnit(unit)
                .setExplicitBucketBoundariesAdvice(buckets)
                .build();
    }

    private static Attributes attributes(String... tagsAndValues) {
        AttributesBuilder attributes = Attributes.builder();
        for (int i = 0; i < tagsAndValues.length; i += 2) {
            attributes.put(tagsAndValues[i], tagsAndValues[i + 1]);
        }
        return attributes.build();
    }
}
