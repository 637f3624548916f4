// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.core.metrics.PenaltyLog;
import io.weir.ratelimit.core.metrics.PenaltyMetrics;
import io.weir.ratelimit.fixtures.LogCapture;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PenaltyMetricsTest {
    static Stream<SeriesReader> apis() {
        return Stream.of(new SeriesReader.MicroProfile(), new SeriesReader.OpenTelemetry());
    }

    private static PenaltyImposed penalty(String policy, int number) {
        return new PenaltyImposed("Search.find", policy, "p:3f", Duration.ofMinutes(15L * number), number);
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsThePenaltiesOfEachPolicy(SeriesReader reader) {
        PenaltyMetrics metrics = new PenaltyMetrics(reader.meters());
        metrics.accept(penalty("api", 1));
        metrics.accept(penalty("login", 1));
        metrics.accept(penalty("api", 2));
        assertThat(reader.counts())
                .containsOnly(
                        entry("ratelimit.penalties{policy=api}", 2L), entry("ratelimit.penalties{policy=login}", 1L));
    }

    @Test
    void logsAtMostOneLineForEachPolicyAndMinute() {
        try (LogCapture log = new LogCapture()) {
            AtomicLong nanos = new AtomicLong();
            PenaltyLog penalties = new PenaltyLog(nanos::get);
            penalties.accept(penalty("api", 1));
            penalties.accept(penalty("api", 2));
            penalties.accept(penalty("login", 1));
            nanos.addAndGet(TimeUnit.MINUTES.toNanos(1));
            penalties.accept(penalty("api", 3));
            assertThat(log.lines())
                    .containsExactly(
                            "INFO WEIR-430 Policy api blocked keys after many rejections. Number since the last such message: 1."
                                    + " Last block: key p:3f for 900 s, penalty 1 of the key.",
                            "INFO WEIR-430 Policy login blocked keys after many rejections. Number since the last such message: 1."
                                    + " Last block: key p:3f for 900 s, penalty 1 of the key.",
                            "INFO WEIR-430 Policy api blocked keys after many rejections. Number since the last such message: 2."
                                    + " Last block: key p:3f for 2700 s, penalty 3 of the key.");
        }
    }
}
