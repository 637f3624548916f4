// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import io.smallrye.metrics.SharedMetricRegistries;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.interceptor.telemetry.TelemetryApis;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The listeners of decisions in a deployment with the local backend. */
final class DeployedListeners {
    static {
        // Otherwise SmallRye logs a stack trace, because the registry of Prometheus is absent.
        System.setProperty("mp.metrics.prometheus.enabled", "false");
    }

    private DeployedListeners() {}

    /** Returns the listeners for a value of {@code ratelimit.metrics}. The metrics are those of SmallRye or of the OpenTelemetry SDK. */
    static List<DecisionListener> of(String metrics) {
        OpenTelemetry openTelemetry = OpenTelemetrySdk.builder()
                .setMeterProvider(SdkMeterProvider.builder()
                        .registerMetricReader(InMemoryMetricReader.create())
                        .build())
                .build();
        return new TelemetryApis(
                        Settings.read(ConfigProperties.of(Map.of("ratelimit.metrics", metrics)), new Problems()),
                        "local",
                        new Server(List.of(openTelemetry, SharedMetricRegistries.getOrCreate("benchmark"))),
                        TelemetryApis.Export.METRICS)
                .choose(List.of(), new KeyMasker(Optional.empty()), new Problems())
                .listeners();
    }

    private record Server(List<Object> objects) implements TelemetryApis.Beans {
        @Override
        public <T> Optional<T> find(Class<T> type) {
            return objects.stream().filter(type::isInstance).map(type::cast).findFirst();
        }
    }
}
