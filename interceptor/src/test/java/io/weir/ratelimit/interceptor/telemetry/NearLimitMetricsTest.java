// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.weir.ratelimit.core.metrics.NearLimitMetrics;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class NearLimitMetricsTest {
    private static final String LONGEST = "ratelimit.near.limit.minutes{policy=%s}";

    static Stream<SeriesReader> apis() {
        return Stream.of(new SeriesReader.MicroProfile(), new SeriesReader.OpenTelemetry());
    }

    @ParameterizedTest
    @MethodSource("apis")
    void reportsTheLongestTimeOfEachPolicyInWholeMinutes(SeriesReader reader) {
        NearLimitMetrics metrics = new NearLimitMetrics(reader.meters());
        assertThat(reader.gauges()).isEmpty();
        metrics.accept(Map.of("api", Duration.ZERO, "login", Duration.ofSeconds(3_719)));
        assertThat(reader.gauges())
                .containsOnly(entry(LONGEST.formatted("api"), 0L), entry(LONGEST.formatted("login"), 61L));
        metrics.accept(Map.of("api", Duration.ofMinutes(7)));
        assertThat(reader.gauges())
                .containsOnly(entry(LONGEST.formatted("api"), 7L), entry(LONGEST.formatted("login"), 0L));
    }
}
