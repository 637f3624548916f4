// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.weir.ratelimit.core.config.ReloadListener.Result;
import io.weir.ratelimit.core.metrics.ConfigMetrics;
import io.weir.ratelimit.core.policy.ResolverListener.Kind;
import io.weir.ratelimit.core.policy.SourceListener.Failure;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The metrics of the configuration, which are equal for all metrics APIs. */
class ConfigMetricsTest {
    static Stream<SeriesReader> apis() {
        return Stream.of(new SeriesReader.MicroProfile(), new SeriesReader.OpenTelemetry());
    }

    @ParameterizedTest
    @MethodSource("apis")
    void reloadsHaveTheirSeriesBeforeTheFirstOne(SeriesReader reader) {
        new ConfigMetrics(reader.meters(), true);
        assertThat(reader.counts())
                .containsOnly(
                        entry("ratelimit.config.reloads{result=applied}", 0L),
                        entry("ratelimit.config.reloads{result=invalid}", 0L),
                        entry("ratelimit.config.reloads{result=failed}", 0L));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsChangesOfTheConfigurationByResult(SeriesReader reader) {
        ConfigMetrics metrics = new ConfigMetrics(reader.meters(), true);
        metrics.reloaded(Result.APPLIED);
        metrics.reloaded(Result.INVALID);
        metrics.reloaded(Result.INVALID);
        metrics.reloaded(Result.FAILED);
        assertThat(reader.counts())
                .containsOnly(
                        entry("ratelimit.config.reloads{result=applied}", 1L),
                        entry("ratelimit.config.reloads{result=invalid}", 2L),
                        entry("ratelimit.config.reloads{result=failed}", 1L));
    }

    @ParameterizedTest
    @MethodSource("apis")
    void countsFailedLookUpsByPolicyAndReason(SeriesReader reader) {
        ConfigMetrics metrics = new ConfigMetrics(reader.meters(), false);
        metrics.failed("api", Failure.ERROR);
        metrics.failed("api", Failure.ERROR);
        metrics.failed("api", Failure.TIMEOUT);
        metrics.failed("login", Failure.BUSY);
        metrics.failed(Kind.TIER, "plans", Failure.TIMEOUT);
        metrics.failed(Kind.KEY, "tenant", Failure.BUSY);
        metrics.failed(Kind.KEY, "tenant", Failure.BUSY);
        metrics.reloaded(Result.APPLIED);
        assertThat(reader.counts())
                .as("the metrics without reloads have no series for them")
                .containsOnly(
                        entry("ratelimit.policy.source.errors{policy=api, type=error}", 2L),
                        entry("ratelimit.policy.source.errors{policy=api, type=timeout}", 1L),
                        entry("ratelimit.policy.source.errors{policy=login, type=busy}", 1L),
                        entry("ratelimit.resolver.errors{kind=tier, resolver=plans, type=timeout}", 1L),
                        entry("ratelimit.resolver.errors{kind=key, resolver=tenant, type=busy}", 2L));
    }
}
