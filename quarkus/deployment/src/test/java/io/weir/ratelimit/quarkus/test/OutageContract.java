// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestPorts;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The failure modes, before the first start of Redis and after its end. */
abstract class OutageContract {
    private static final String PORT = "weir.test.quarkus.outage.port";
    private static final Duration LONG = Duration.ofSeconds(60);

    static QuarkusUnitTest application() {
        return new QuarkusUnitTest()
                .withApplicationRoot(jar -> jar.addClasses(OutageContract.class, Client.class, Resources.class))
                .setBeforeAllCustomizer(() -> System.setProperty(PORT, Integer.toString(TestPorts.next())))
                .overrideConfigKey("ratelimit.redis.address", "redis://127.0.0.1:${" + PORT + "}")
                .overrideConfigKey("ratelimit.redis.deadline", "1s")
                .overrideConfigKey("io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/delay", "200")
                .overrideConfigKey("ratelimit.instances", "1")
                .overrideConfigKey("ratelimit.policies.open.limit", "2/1h")
                .overrideConfigKey("ratelimit.policies.open.key", "header:X-Client")
                .overrideConfigKey("ratelimit.policies.closed.limit", "2/1h")
                .overrideConfigKey("ratelimit.policies.closed.key", "header:X-Client")
                .overrideConfigKey("ratelimit.policies.closed.on-failure", "closed")
                .overrideConfigKey("ratelimit.policies.local.limit", "2/1h")
                .overrideConfigKey("ratelimit.policies.local.key", "header:X-Client")
                .overrideConfigKey("ratelimit.policies.local.on-failure", "local");
    }

    @TestHTTPResource
    URI base;

    @Test
    void theFailureModesApplyWithoutRedisAndTheLimitsWithIt() {
        verifyFailureModes();
        int port = Integer.getInteger(PORT);
        try (RedisProcess redis = new RedisProcess(port, RedisProcess.serverArguments(port))) {
            redis.start();
            for (String path : List.of("open", "open-uni", "closed", "closed-uni", "local", "local-uni")) {
                Await.until(path + " has its limit", LONG, () -> statuses(path).equals(List.of(200, 200, 429)));
            }
            redis.kill();
            Await.until("the breaker opens", LONG, () -> {
                statuses("open");
                return metrics().contains("ratelimit_breaker_open 1.0");
            });
            verifyFailureModes();
            redis.start();
            Await.until(
                    "the limit applies again", LONG, () -> statuses("open-uni").equals(List.of(200, 200, 429)));
            assertThat(metrics()).contains("ratelimit_breaker_open 0.0");
        }
    }

    /** Returns the metrics, as Prometheus reads them. */
    String metrics() {
        return new Client(base).get("q/metrics").body();
    }

    private void verifyFailureModes() {
        for (String kind : List.of("", "-uni")) {
            assertThat(statuses("open" + kind)).containsOnly(200);
            assertThat(statuses("closed" + kind)).containsOnly(503);
            assertThat(statuses("local" + kind)).containsExactly(200, 200, 503);
            HttpResponse<String> allowed = new Client(base).get("outage/open" + kind);
            assertThat(allowed.headers().firstValue("RateLimit")).isEmpty();
            HttpResponse<String> unavailable = new Client(base).get("outage/closed" + kind);
            assertThat(unavailable.headers().firstValueAsLong("Retry-After")).hasValue(1);
            assertThat(unavailable.headers().firstValue("Content-Type")).hasValue("application/problem+json");
        }
    }

    /** Returns the statuses of three calls of a new client. */
    private List<Integer> statuses(String path) {
        Client client = new Client(base);
        return Stream.generate(() -> client.get("outage/" + path).statusCode())
                .limit(3)
                .toList();
    }

    /** A method of each policy on a worker thread, and one on the event loop. */
    @Path("outage")
    public static class Resources {
        @GET
        @Path("open")
        @RateLimit("open")
        public String open() {
            return "done";
        }

        @GET
        @Path("open-uni")
        @RateLimit("open")
        public Uni<String> openLater() {
            return Uni.createFrom().item("done");
        }

        @GET
        @Path("closed")
        @RateLimit("closed")
        public String closed() {
            return "done";
        }

        @GET
        @Path("closed-uni")
        @RateLimit("closed")
        public Uni<String> closedLater() {
            return Uni.createFrom().item("done");
        }

        @GET
        @Path("local")
        @RateLimit("local")
        public String local() {
            return "done";
        }

        @GET
        @Path("local-uni")
        @RateLimit("local")
        public Uni<String> localLater() {
            return Uni.createFrom().item("done");
        }
    }
}
