// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.weir.ratelimit.core.metrics.Meters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    private void record() {
        GlobalOpenTelemetry.resetForTest();
        GlobalOpenTelemetry.set(
                OpenTelemetrySdk.builder().setMeterProvider(provider).build());
    }

    @Test
    void theServerRecordsDecisionsAndTheirUtilization() throws Exception {
        record();
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

    /** A client chooses the domains of its requests, and no series ends. */
    @Test
    void theDomainsOfClientsHaveFewSeries(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(
                folder.resolve("edge.yaml"),
                "domain: shop\ndescriptors:\n  - { key: user, rate_limit: { unit: year, requests_per_unit: 1 } }\n");
        record();
        try (TestServer server = TestServer.cold(
                Map.of("ratelimit.policies.api.limit", "1/1h", "ratelimit.envoy.config", file.toString()))) {
            for (int i = 0; i < 100; i++) {
                server.call("unlimited" + i, TestServer.descriptor("user", "ann"));
            }
            for (int i = 0; i < 300; i++) {
                server.call("d" + i, TestServer.descriptor("policy", "api"));
            }
            for (String domain : List.of("client:a", "x".repeat(1_000), "shop")) {
                server.call(domain, TestServer.descriptor("policy", "api"));
            }
            List<String> endpoints = reader.collectAllMetrics().stream()
                    .filter(metric -> metric.getName().equals("ratelimit.decisions"))
                    .flatMap(metric -> metric.getLongSumData().getPoints().stream())
                    .map(LongPointData::getAttributes)
                    .peek(attributes -> assertThat(attributes.get(AttributeKey.stringKey("direction")))
                            .isEqualTo("incoming"))
                    .map(attributes -> attributes.get(AttributeKey.stringKey("endpoint")))
                    .distinct()
                    .toList();
            assertThat(endpoints)
                    .hasSize(102)
                    .contains("d0", "d99", "other", "shop")
                    .doesNotContain("d100");
        } finally {
            GlobalOpenTelemetry.resetForTest();
        }
    }

    @Test
    void aCounterIsZeroBeforeItsFirstEvent() {
        meters.counter(METRIC, "policy", "api");
        assertThat(metric().getLongSumData().getPoints())
                .extracting(LongPointData::getValue)
                .containsExactly(0L);
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
