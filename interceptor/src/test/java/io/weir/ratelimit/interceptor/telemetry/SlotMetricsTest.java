// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.weir.ratelimit.core.metrics.SlotMetrics;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SlotMetricsTest {
    static Stream<SeriesReader> apis() {
        return Stream.of(new SeriesReader.MicroProfile(), new SeriesReader.OpenTelemetry());
    }

    @ParameterizedTest
    @MethodSource("apis")
    void reportsTheSlotsOfEachPolicyAndTheLostOnes(SeriesReader reader) {
        SlotMetrics metrics = new SlotMetrics(reader.meters());
        metrics.held("slow", 0);
        metrics.held("export", 3);
        metrics.held("export", 2);
        metrics.lost("export");
        assertThat(reader.gauges())
                .containsOnly(
                        entry("ratelimit.concurrency{policy=slow}", 0L),
                        entry("ratelimit.concurrency{policy=export}", 2L));
        assertThat(reader.counts())
                .containsOnly(
                        entry("ratelimit.concurrency.lost{policy=slow}", 0L),
                        entry("ratelimit.concurrency.lost{policy=export}", 1L));
    }
}
