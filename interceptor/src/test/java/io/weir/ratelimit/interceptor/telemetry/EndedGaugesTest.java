// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.FakeBackend;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.Platform;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The gauges of applications in the SDK of a server, which outlives them. */
@Tag("field")
class EndedGaugesTest {
    private static final String BREAKER_OPEN = "ratelimit.breaker.open{}";

    private final SeriesReader server = new SeriesReader.OpenTelemetry();

    private HostedWeir deployed() {
        FakeBackend backend = new FakeBackend();
        return HostedWeir.on(new Platform() {
            @Override
            public ConfigProperties.Sources properties() {
                return ConfigProperties.Sources.of(ConfigProperties.of(Map.of("ratelimit.backend", backend.name())));
            }

            @Override
            public <T> List<T> all(Class<T> type) {
                return type == RateLimitBackend.class ? List.of(type.cast(backend)) : List.of();
            }

            @Override
            public Telemetry telemetry(Settings settings, String name, KeyMasker masker, Problems problems) {
                Telemetry.Metrics metrics = Telemetry.Metrics.of(server.meters(), settings, name);
                return Telemetry.of(Optional.of(metrics), Telemetry.Spans.NONE, List.of(), masker);
            }
        });
    }

    private static void breakerOpens(HostedWeir application) {
        application.telemetry().backend().orElseThrow().onBreakerChange(true);
    }

    @Test
    void aRedeploymentDuringAnOutageKeepsNoValue() {
        try (HostedWeir application = deployed()) {
            breakerOpens(application);
            application.telemetry().nearLimit().accept(Map.of("api", Duration.ofMinutes(7)));
            application.telemetry().slots().held("export", 3);
            assertThat(server.gauges()).containsEntry(BREAKER_OPEN, 1L).containsValues(7L, 3L);
        }
        assertThat(server.gauges()).hasSizeGreaterThan(3).values().containsOnly(0L);
        try (HostedWeir again = deployed()) {
            breakerOpens(again);
            assertThat(server.gauges()).containsEntry(BREAKER_OPEN, 1L);
        }
    }

    @Test
    void aValueAfterTheEndHasNoEffect() {
        HostedWeir application = deployed();
        application.telemetry().slots().held("export", 3);
        application.close();
        application.close();
        breakerOpens(application);
        application.telemetry().slots().held("export", 2);
        application.telemetry().slots().held("first use after the end", 1);
        assertThat(server.gauges()).hasSizeGreaterThan(3).values().containsOnly(0L);
    }

    @Test
    void anotherApplicationKeepsItsValue() {
        try (HostedWeir other = deployed()) {
            breakerOpens(other);
            try (HostedWeir application = deployed()) {
                breakerOpens(application);
                assertThat(server.gauges()).containsEntry(BREAKER_OPEN, 2L);
            }
            assertThat(server.gauges()).containsEntry(BREAKER_OPEN, 1L);
        }
    }
}
