// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.weir.ratelimit.client.outgoing.OutgoingListener.Cause;
import io.weir.ratelimit.client.outgoing.OutgoingMetrics;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OutgoingMetricsTest {
    static Stream<SeriesReader> apis() {
        return Stream.of(new SeriesReader.MicroProfile(), new SeriesReader.OpenTelemetry());
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsPausesAndRetries(SeriesReader reader) {
        OutgoingMetrics metrics = new OutgoingMetrics(reader.meters());
        metrics.paused("partner", Cause.STATUS);
        metrics.paused("partner", Cause.STATUS);
        metrics.paused("partner", Cause.QUOTA);
        metrics.retried("partner", true);
        metrics.retried("bank", false);
        assertThat(reader.counts())
                .containsOnly(
                        entry("ratelimit.client.pauses{cause=status, client=partner}", 2L),
                        entry("ratelimit.client.pauses{cause=quota, client=partner}", 1L),
                        entry("ratelimit.client.retries{client=partner, outcome=allowed}", 1L),
                        entry("ratelimit.client.retries{client=bank, outcome=rejected}", 1L));
    }
}
