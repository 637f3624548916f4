// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.io.File;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Weir on a server without the optional MicroProfile features. */
@Tag("server")
@Tag("ci")
class MinimalServerIT {
    private static final String TUNING = "io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/";
    private static final Duration DEADLINE = Duration.ofMillis(300);
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int VOLUME = 10;

    /** SmallRye Config with the libraries that it needs. */
    private static final Pattern CONFIG_LIBRARY =
            Pattern.compile("/(smallrye-(config|common)|microprofile-config-api|jboss-logging)[^/]*\\.jar$");

    @TempDir
    private Path temp;

    /** GlassFish has neither MicroProfile Fault Tolerance nor Metrics nor Telemetry. */
    static Stream<Named<Supplier<ServerBuilder<?>>>> servers() {
        return Stream.of(
                Named.of(
                        "Open Liberty",
                        () -> LibertyServer.named("minimal-liberty")
                                .without("mpFaultTolerance", "mpMetrics", "mpTelemetry", "mpHealth", "mpRestClient")),
                Named.of(
                        "GlassFish",
                        () -> GlassFishServer.named("minimal-glassfish").javaHome(NewerJdk.required("GlassFish"))));
    }

    @ParameterizedTest
    @MethodSource("servers")
    void worksWithoutOptionalFeatures(Supplier<ServerBuilder<?>> kind) {
        try (Server server = kind.get().start()) {
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

    @Test
    void oneMessageNamesAMissingMicroProfileConfig() {
        String log = withoutConfig().startExpectingFailure();
        assertThat(log)
                .contains("WEIR-217 MicroProfile Config is not available to the application")
                .contains("io.smallrye.config:smallrye-config");
    }

    @Test
    void smallRyeConfigInTheApplicationReplacesThatOfTheServer() {
        File[] libraries = Stream.of(
                        System.getProperty("surefire.test.class.path").split(File.pathSeparator))
                .filter(path -> CONFIG_LIBRARY.matcher(path).find())
                .map(File::new)
                .toArray(File[]::new);
        assertThat(libraries).hasSizeGreaterThan(3);
        Path war = TestWar.written(TestWar.example().addAsLibraries(libraries), temp);
        try (Server server = withoutConfig().war(war).start()) {
            assertThat(Http.statuses(6, server.baseUri().resolve("api/hello")))
                    .containsExactly(200, 200, 200, 200, 200, 429);
        }
    }

    private static LibertyServer withoutConfig() {
        return LibertyServer.named("no-config")
                .without("mpConfig", "mpFaultTolerance", "mpMetrics", "mpTelemetry", "mpHealth", "mpRestClient");
    }

    /** The failure ratio has no effect without the breaker of the server: see {@link ServerBreakerIT}. */
    @ParameterizedTest
    @MethodSource("servers")
    void breakerWorksWithoutFaultToleranceOfTheServer(Supplier<ServerBuilder<?>> kind) {
        try (RedisProcess redis = RedisProcess.started();
                FaultProxy proxy = FaultProxy.inFrontOf(redis);
                Server server = kind.get()
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
