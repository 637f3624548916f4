// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.weir.ratelimit.core.metrics.Meters;
import java.util.Map;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The instruments of the server: their names, units, buckets and values. */
class ServerMetersTest {
    private static final Meters.Metric METRIC = Meters.Metric.values()[0];

    private final InMemoryMetricReader reader = InMemoryMetricReader.create();
    private final SdkMeterProvider provider =
            SdkMeterProvider.builder().registerMetricReader(reader).build();
    private final ServerMeters meters = new ServerMeters(provider.get("test"));

    @AfterEach
    void close() {
        provider.close();
    }

    private MetricData metric() {
        assertThat(reader.collectAllMetrics()).hasSize(1);
        return reader.collectAllMetrics().iterator().next();
    }

    private HistogramPointData histogram() {
        return metric().getHistogramData().getPoints().iterator().next();
    }

    @Test
    void theServerRecordsDecisionsAndTheirUtilization() throws Exception {
        GlobalOpenTelemetry.resetForTest();
        GlobalOpenTelemetry.set(
                OpenTelemetrySdk.builder().setMeterProvider(provider).build());
        try (TestServer server = TestServer.cold(Map.of("ratelimit.policies.api.limit", "1/1h"))) {
            for (int i = 0; i < 20; i++) {
                server.call("edge", TestServer.descriptor("policy", "api"));
            }
            assertThat(reader.collectAllMetrics())
                    .extracting(MetricData::getName)
                    .contains("ratelimit.decisions", "ratelimit.utilization");
        } finally {
            GlobalOpenTelemetry.resetForTest();
        }
    }

    @Test
    void aCounterAddsOneForItsTags() {
        Runnable counter = meters.counter(METRIC, "policy", "api", "outcome", "allowed");
        counter.run();
        counter.run();
        LongPointData point = metric().getLongSumData().getPoints().iterator().next();
        assertThat(metric().getName()).isEqualTo(METRIC.label());
        assertThat(metric().getDescription()).isEqualTo(METRIC.description());
        assertThat(point.getValue()).isEqualTo(2);
        assertThat(point.getAttributes().asMap().toString()).contains("policy=api", "outcome=allowed");
    }

    @Test
    void aTimerRecordsSeconds() {
        meters.timer(METRIC, "policy", "api").accept(20_000_000);
        assertThat(metric().getUnit()).isEqualTo("s");
        assertThat(histogram().getSum()).isEqualTo(0.02);
        assertThat(histogram().getBoundaries()).startsWith(0.0001).endsWith(1.0);
    }

    @Test
    void aShareHasTenBuckets() {
        meters.ratios(METRIC, "policy", "api").accept(0.55);
        assertThat(metric().getUnit()).isEqualTo("1");
        assertThat(histogram().getBoundaries()).hasSize(10);
        assertThat(histogram().getCounts().get(5)).isEqualTo(1);
    }

    @Test
    void aSizeHasPowersOfTwoAsBuckets() {
        meters.sizes(METRIC).accept(3);
        assertThat(histogram().getBoundaries()).startsWith(1.0, 2.0, 4.0).endsWith(256.0);
        assertThat(histogram().getCounts().get(2)).isEqualTo(1);
    }

    @Test
    void aGaugeHasItsLastValue() {
        LongConsumer gauge = meters.gauge(METRIC, "policy", "api");
        gauge.accept(7);
        gauge.accept(3);
        LongPointData point = metric().getLongSumData().getPoints().iterator().next();
        assertThat(point.getValue()).isEqualTo(3);
        assertThat(metric().getLongSumData().isMonotonic()).isFalse();
    }
}
