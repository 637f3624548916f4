// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.DoubleHistogramBuilder;
import io.opentelemetry.api.metrics.LongCounter;
import io.opentelemetry.api.metrics.LongUpDownCounter;
import io.opentelemetry.api.metrics.Meter;
import io.weir.ratelimit.core.metrics.Meters;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleConsumer;
import java.util.function.LongConsumer;

/** The meters of OpenTelemetry. */
final class OpenTelemetryMeters implements Meters {
    private static final double SECOND = 1e9;

    /** The value of a gauge that has ended. */
    private static final long ENDED = Long.MIN_VALUE;

    private final Meter meter;
    private final Queue<LongConsumer> gauges = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    OpenTelemetryMeters(OpenTelemetry openTelemetry) {
        this.meter = openTelemetry.getMeter("io.weir.ratelimit");
    }

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

    /** Uses a counter, because the SDK of the server would keep the callback of a gauge with the class loader of the application. */
    @Override
    public LongConsumer gauge(Meters.Metric metric, String... tagsAndValues) {
        LongUpDownCounter counter = meter.upDownCounterBuilder(metric.label())
                .setDescription(metric.description())
                .build();
        Attributes attributes = attributes(tagsAndValues);
        counter.add(0, attributes);
        AtomicLong previous = new AtomicLong();
        LongConsumer gauge = value -> {
            long before = previous.getAndUpdate(last -> last == ENDED ? ENDED : value);
            if (before != ENDED) {
                counter.add((value == ENDED ? 0 : value) - before, attributes);
            }
        };
        gauges.add(gauge);
        if (closed) {
            gauge.accept(ENDED);
        }
        return gauge;
    }

    /** Takes the values of this application from the counters, which the SDK of the server keeps. */
    @Override
    public void close() {
        closed = true;
        gauges.forEach(gauge -> gauge.accept(ENDED));
    }

    private DoubleHistogram histogram(Meters.Metric metric, String unit, List<Double> buckets) {
        DoubleHistogramBuilder histogram = meter.histogramBuilder(metric.label())
                .setDescription(metric.description())
                .setUnit(unit);
        try {
            histogram.setExplicitBucketBoundariesAdvice(buckets);
        } catch (NoSuchMethodError e) {
            // API versions before 1.32 use the default buckets of the SDK, or those of a view.
        }
        return histogram.build();
    }

    private static Attributes attributes(String... tagsAndValues) {
        AttributesBuilder attributes = Attributes.builder();
        for (int i = 0; i < tagsAndValues.length; i += 2) {
            attributes.put(tagsAndValues[i], tagsAndValues[i + 1]);
        }
        return attributes.build();
    }
}
