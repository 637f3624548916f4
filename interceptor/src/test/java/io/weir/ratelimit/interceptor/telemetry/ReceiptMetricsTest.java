// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.weir.ratelimit.core.metrics.ReceiptMetrics;
import io.weir.ratelimit.core.request.EdgeReceipt;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ReceiptMetricsTest {
    static Stream<SeriesReader> apis() {
        return Stream.of(new SeriesReader.MicroProfile(), new SeriesReader.OpenTelemetry());
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsReceiptsByResultFromZero(SeriesReader reader) {
        ReceiptMetrics metrics = new ReceiptMetrics(Optional.of(reader.meters()), () -> 0);
        metrics.accept(EdgeReceipt.Result.ACCEPTED);
        assertThat(reader.counts())
                .containsOnly(
                        entry("ratelimit.receipts{result=accepted}", 1L),
                        entry("ratelimit.receipts{result=forged}", 0L),
                        entry("ratelimit.receipts{result=expired}", 0L),
                        entry("ratelimit.receipts{result=replayed}", 0L),
                        entry("ratelimit.receipts{result=unknown}", 0L));
    }
}
