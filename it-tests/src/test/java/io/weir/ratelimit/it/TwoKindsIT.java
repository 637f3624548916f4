// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.redisson.RedisProcess;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Open Liberty and WildFly with one Redis: what one spends, the other does not give away again. */
class TwoKindsIT {
    private static final int ROUNDS = 5;

    @Test
    void oneLimitHoldsOverTwoKindsOfServer() {
        try (RedisProcess redis = RedisProcess.started()) {
            CompletableFuture<Server> starting = CompletableFuture.supplyAsync(
                    () -> node(LibertyServer.named("kind-liberty"), redis).start());
            try (Server wildfly =
                            node(WildFlyServer.named("kind-wildfly"), redis).start();
                    Server liberty = starting.join()) {
                List<URI> hello = List.of(hello(liberty), hello(wildfly));
                warm(hello);
                whatOneSpendsTheOtherTells(hello);
                exactlyTheLimitIsLetInRoundByRound(hello);
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

    /** A cold JVM answers late; what it warms on are other keys. */
    private static void warm(List<URI> servers) {
        for (int i = 0; i < 15; i++) {
            for (URI server : servers) {
                assertThat(Http.get(server, "X-API-Key", "warm " + i).statusCode())
                        .isEqualTo(200);
            }
        }
    }

    /** Within a minute, of which none has passed: the window gives nothing back meanwhile. */
    private static void whatOneSpendsTheOtherTells(List<URI> servers) {
        long remaining = 50;
        for (int i = 0; i < 5; i++) {
            for (URI server : servers) {
                assertThat(Refusal.remaining(Http.get(server, "X-API-Key", "in turn")))
                        .isEqualTo(--remaining);
            }
        }
    }

    private static void exactlyTheLimitIsLetInRoundByRound(List<URI> servers) {
        Set<URI> letIn = new HashSet<>();
        for (int round = 0; round < ROUNDS; round++) {
            letIn.addAll(SharedLimit.verify("hello", 50, 100, servers, "X-API-Key", "round " + round)
                    .keySet());
        }
        assertThat(letIn).as("servers that let a request in").containsAll(servers);
    }

    private static URI hello(Server server) {
        return server.baseUri().resolve("api/hello");
    }
}
