// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisProcess;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Open Liberty and WildFly with one Redis and shared limits. */
@Tag("server")
@Tag("ci")
class TwoServerKindsIT {
    private static final int ROUNDS = 5;

    @Test
    void differentServersShareOneLimit() {
        try (RedisProcess redis = RedisProcess.started()) {
            CompletableFuture<Server> starting = CompletableFuture.supplyAsync(
                    () -> node(LibertyServer.named("kind-liberty"), redis).start());
            try (Server wildfly =
                            node(WildFlyServer.named("kind-wildfly"), redis).start();
                    Server liberty = starting.join()) {
                List<URI> hello = List.of(hello(liberty), hello(wildfly));
                warm(hello);
                serversReportTheSameRemainingPermits(hello);
                serversAllowExactlyTheLimit(hello);
                assertThat(liberty.log()).doesNotContain("WEIR-301");
                assertThat(wildfly.log()).doesNotContain("WEIR-301");
            }
        }
    }

    private static <B extends ServerBuilder<B>> B node(B server, RedisProcess redis) {
        return server.environment("RATELIMIT_POLICIES_HELLO_LIMIT", "50/1m")
                .systemProperty("ratelimit.policies.hello.key", "header:X-API-Key")
                .systemProperty("ratelimit.redis.address", redis.address())
                .systemProperty("ratelimit.redis.deadline", "5s");
    }

    /** Warms up the JVMs with other keys. */
    private static void warm(List<URI> servers) {
        for (int i = 0; i < 15; i++) {
            for (URI server : servers) {
                assertThat(Http.get(server, "X-API-Key", "warm " + i).statusCode())
                        .isEqualTo(200);
            }
        }
    }

    /** Verifies the remaining permits within one window, in which no permits return. */
    private static void serversReportTheSameRemainingPermits(List<URI> servers) {
        long remaining = 50;
        for (int i = 0; i < 5; i++) {
            for (URI server : servers) {
                assertThat(LimitResponse.remaining(Http.get(server, "X-API-Key", "in turn")))
                        .isEqualTo(--remaining);
            }
        }
    }

    private static void serversAllowExactlyTheLimit(List<URI> servers) {
        Set<URI> allowing = new HashSet<>();
        for (int round = 0; round < ROUNDS; round++) {
            allowing.addAll(SharedLimit.verify("hello", 50, 100, servers, "X-API-Key", "round " + round)
                    .keySet());
        }
        assertThat(allowing).as("servers that allow a request").containsAll(servers);
    }

    private static URI hello(Server server) {
        return server.baseUri().resolve("api/hello");
    }
}
