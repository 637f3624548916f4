// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.weir.ratelimit.core.metrics.Meters;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleConsumer;
import java.util.function.LongConsumer;
import org.eclipse.microprofile.metrics.Counter;
import org.eclipse.microprofile.metrics.Histogram;
import org.eclipse.microprofile.metrics.Metadata;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.eclipse.microprofile.metrics.MetricUnits;
import org.eclipse.microprofile.metrics.Tag;
import org.eclipse.microprofile.metrics.Timer;

/**
 * The meters of MicroProfile Metrics. Its histograms record integers, so ratios are recorded in percent. They have no unit, because
 * Payara would add {@code _ratio} to the name. The buckets are in the {@code microprofile-config.properties} of this library. Their
 * notation has no duration below a millisecond.
 */
record MicroProfileMeters(MetricRegistry registry) implements Meters {
    @Override
    public Runnable counter(Meters.Metric metric, String... tagsAndValues) {
        Counter counter = registry.counter(metadata(metric, MetricUnits.NONE), tags(tagsAndValues));
        return counter::inc;
    }

    @Override
    public LongConsumer timer(Meters.Metric metric, String... tagsAndValues) {
        Timer timer = registry.timer(metadata(metric, MetricUnits.SECONDS), tags(tagsAndValues));
        return nanos -> timer.update(Duration.ofNanos(nanos));
    }

    @Override
    public DoubleConsumer ratios(Meters.Metric metric, String... tagsAndValues) {
        Histogram histogram = registry.histogram(metadata(metric, MetricUnits.NONE), tags(tagsAndValues));
        return ratio -> histogram.update(Math.round(100 * ratio));
    }

    @Override
    public LongConsumer sizes(Meters.Metric metric) {
        return registry.histogram(metadata(metric, MetricUnits.NONE))::update;
    }

    @Override
    public LongConsumer gauge(Meters.Metric metric, String... tagsAndValues) {
        AtomicLong value = new AtomicLong();
        registry.gauge(metadata(metric, MetricUnits.NONE), value::get, tags(tagsAndValues));
        return value::set;
    }

    private static Metadata metadata(Meters.Metric metric, String unit) {
        return Metadata.builder()
                .withName(metric.label())
                .withDescription(metric.description())
                .withUnit(unit)
                .build();
    }

    private static Tag[] tags(String... tagsAndValues) {
        Tag[] tags = new Tag[tagsAndValues.length / 2];
        for (int i = 0; i < tags.length; i++) {
            tags[i] = new Tag(tagsAndValues[2 * i], tagsAndValues[2 * i + 1]);
        }
        return tags;
    }
}
