// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Weir on a server without the optional MicroProfile features. */
@Tag("server")
@Tag("ci")
class MinimalServerIT {
    private static final String TUNING = "io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/";
    private static final Duration DEADLINE = Duration.ofMillis(300);
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int VOLUME = 10;

    @Test
    void openLibertyWithoutOptionalFeatures() {
        try (Server server = LibertyServer.named("minimal")
                .without("mpFaultTolerance", "mpMetrics", "mpTelemetry", "mpHealth")
                .start()) {
            assertThat(Http.statuses(6, server.baseUri().resolve("api/hello")))
                    .containsExactly(200, 200, 200, 200, 200, 429);

            String log = server.log();
            assertThat(log).doesNotContain("mpMetrics-", "mpTelemetry-", "mpFaultTolerance-", "mpHealth-");
            assertThat(log)
                    .contains("WEIR-001 Rate limits are enabled. Backend: local")
                    .contains(
                            "WEIR-003 Metrics: off (neither MicroProfile Metrics nor OpenTelemetry is available to the"
                                    + " application). Span attributes: off (OpenTelemetry is not available to the application).");
        }
    }

    /** The failure ratio has no effect without the breaker of the server: see {@link ServerBreakerIT}. */
    @Test
    void breakerWorksWithoutFaultToleranceOfTheServer() {
        try (RedisProcess redis = RedisProcess.started();
                FaultProxy proxy = FaultProxy.inFrontOf(redis);
                Server server = LibertyServer.named("minimal-redis")
                        .without("mpFaultTolerance", "mpMetrics", "mpTelemetry", "mpHealth")
                        .systemProperty("ratelimit.redis.address", proxy.address())
                        .systemProperty("ratelimit.redis.deadline", DEADLINE.toMillis() + "ms")
                        .systemProperty("ratelimit.policies.compute.limit", "1000000/1h")
                        .systemProperty("ratelimit.policies.compute.on-failure", "closed")
                        .systemProperty(TUNING + "failureRatio", "0.4")
                        .systemProperty(TUNING + "requestVolumeThreshold", Integer.toString(VOLUME))
                        .systemProperty(TUNING + "delay", "1000")
                        .start()) {
            URI search = server.baseUri().resolve("api/search");
            Await.until(
                    "a decision of the backend",
                    TIMEOUT,
                    () -> Http.get(search).headers().firstValue("RateLimit").isPresent());
            for (int call = 0; call < 2 * VOLUME; call++) {
                proxy.failScripts("LOADING Redis is loading the dataset in memory");
                assertThat(Http.get(search).statusCode()).isEqualTo(503);
                proxy.forward();
                Http.get(search);
            }
            assertThat(server.log()).as("half of the calls failed").doesNotContain("WEIR-416");
            redis.pause();
            try {
                Await.until("the breaker is open", TIMEOUT, () -> {
                    assertThat(Http.get(search).statusCode()).isIn(200, 503);
                    return server.log().contains("WEIR-416");
                });
                long start = System.nanoTime();
                HttpResponse<String> rejected = Http.get(search);
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(DEADLINE);
                long seconds = LimitResponse.number(rejected, "Retry-After");
                assertThat(seconds).as("the delay of 1 s and up to half of it").isBetween(1L, 2L);
                LimitResponse.verifyUnavailable(rejected, seconds);
            } finally {
                redis.resume();
            }
            Await.until("the breaker is closed", TIMEOUT, () -> {
                Http.get(search);
                return server.log().contains("WEIR-418");
            });
            assertThat(Http.get(search).statusCode()).isEqualTo(200);
            assertThat(server.log()).doesNotContain("mpFaultTolerance-", "WEIR-417");
        }
    }
}
