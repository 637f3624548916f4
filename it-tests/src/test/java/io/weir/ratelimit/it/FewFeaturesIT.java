// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.redisson.Await;
import io.weir.ratelimit.redisson.RedisProcess;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A server that lacks what Weir can do without; JWT and OpenAPI are only where they are tested. */
class FewFeaturesIT {
    private static final String TUNING = "io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/";
    private static final Duration DEADLINE = Duration.ofMillis(300);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Test
    void openLibertyWithoutMetricsTracesAndFaultTolerance() {
        try (Server server = LibertyServer.named("few-features")
                .without("mpFaultTolerance", "mpMetrics", "mpTelemetry", "mpHealth")
                .start()) {
            assertThat(Http.statuses(6, server.baseUri().resolve("api/hello")))
                    .containsExactly(200, 200, 200, 200, 200, 429);

            String log = server.log();
            assertThat(log).doesNotContain("mpMetrics-", "mpTelemetry-", "mpFaultTolerance-", "mpHealth-");
            assertThat(log)
                    .contains("WEIR-001 rate limits are on: store local")
                    .contains("WEIR-003 metrics are off: neither MicroProfile Metrics nor OpenTelemetry is here for the"
                            + " application; attributes on spans are off: the API of OpenTelemetry is not here for the"
                            + " application");
        }
    }

    @Test
    void withoutFaultToleranceOfTheServerTheBreakerStandsAlone() {
        try (RedisProcess redis = RedisProcess.started();
                Server server = LibertyServer.named("few-features-redis")
                        .without("mpFaultTolerance", "mpMetrics", "mpTelemetry", "mpHealth")
                        .systemProperty("ratelimit.redis.address", redis.address())
                        .systemProperty("ratelimit.redis.deadline", DEADLINE.toMillis() + "ms")
                        .systemProperty("ratelimit.policies.compute.on-failure", "closed")
                        .systemProperty(TUNING + "requestVolumeThreshold", "3")
                        .systemProperty(TUNING + "delay", "1")
                        .start()) {
            URI search = server.baseUri().resolve("api/search");
            Await.until(
                    "a decision of the store",
                    PATIENCE,
                    () -> Http.get(search).headers().firstValue("RateLimit").isPresent());
            redis.pause();
            try {
                Await.until("the breaker is open", PATIENCE, () -> {
                    assertThat(Http.get(search).statusCode()).isIn(200, 503);
                    return server.log().contains("WEIR-416");
                });
                long start = System.nanoTime();
                Refusal.verifyUnavailable(Http.get(search));
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(DEADLINE);
            } finally {
                redis.resume();
            }
            Await.until("the breaker is closed", PATIENCE, () -> {
                Http.get(search);
                return server.log().contains("WEIR-418");
            });
            assertThat(Http.get(search).statusCode()).isEqualTo(200);
            assertThat(server.log()).doesNotContain("mpFaultTolerance-", "WEIR-417");
        }
    }
}
