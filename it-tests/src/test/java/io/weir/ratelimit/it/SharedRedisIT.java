// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two server processes with one Redis. All secrets contain the word canary, which must not occur in any output. */
@Tag("server")
class SharedRedisIT {
    private static final String PASSWORD = "canary-of-the-redis-password";
    private static final String KEY_SECRET = "canary-of-the-key-secret";
    private static final String API_KEY = "canary-of-an-api-key";

    @Test
    void twoServersShareOneLimitAndWriteNoSecrets() {
        try (RedisProcess redis = RedisProcess.started("--requirepass", PASSWORD)) {
            CompletableFuture<Server> starting =
                    CompletableFuture.supplyAsync(() -> node("node-a", redis).start());
            try (Server b = node("node-b", redis).start();
                    Server a = starting.join()) {
                warm(a, b);
                SharedLimit.verify("hello", 50, 100, List.of(hello(a), hello(b)));
                apiKeyIsTheSameKeyOnBothServers(a, b);
                Set<String> keys = keys(redis);
                // An instance reports itself and its presence some time after its start.
                assertThat(keys)
                        .filteredOn(
                                key -> !key.matches(
                                        "weir:1:fleet:\\{it}:(instances|report:[0-9a-f]{16})|weir:2:\\{it:instances}:\\+present"))
                        .hasSizeGreaterThanOrEqualTo(2)
                        .allMatch(key -> key.matches("weir:2:\\{it:[a-z.-]+~[A-Za-z0-9_-]{22}}:(hello|compute)"));

                redis.kill();
                for (Server node : List.of(a, b)) {
                    assertThat(Http.get(search(node), "X-API-Key", API_KEY).statusCode())
                            .isEqualTo(200);
                }
                b.kill();
                assertThat(b.handle().isAlive()).isFalse();
                assertThat(Http.get(search(a), "X-API-Key", API_KEY).statusCode())
                        .isEqualTo(200);
                a.stop();
                assertThat(a.handle().isAlive()).isFalse();
                for (Server node : List.of(a, b)) {
                    assertThat(node.log()).contains("WEIR-001", "WEIR-301");
                    SecretScan.verifyAbsent(node.directory(), "console.log", "messages.log", "trace.log");
                }
                assertThat(String.join(" ", keys)).doesNotContain("canary");
            }
        }
    }

    private static LibertyServer node(String name, RedisProcess redis) {
        return LibertyServer.named(name)
                .environment("RATELIMIT_POLICIES_HELLO_LIMIT", "50/1m")
                .systemProperty("ratelimit.policies.compute.key", "header:X-API-Key")
                .systemProperty("ratelimit.redis.address", redis.address(PASSWORD))
                .systemProperty("ratelimit.redis.deadline", "5s")
                .systemProperty("ratelimit.namespace", "it")
                .systemProperty("ratelimit.key-secret", KEY_SECRET)
                .bootstrapProperty(
                        "com.ibm.ws.logging.trace.specification", "*=info:io.weir.*=all:org.redisson.*=fine");
    }

    /** Warms up the JVMs with another policy. */
    private static void warm(Server... nodes) {
        for (int i = 0; i < 15; i++) {
            for (Server node : nodes) {
                HttpResponse<String> response = Http.get(search(node), "X-API-Key", "warm " + i);
                assertThat(response.statusCode()).isEqualTo(200);
                assertThat(LimitResponse.remaining(response)).isIn(980L, 990L);
            }
        }
    }

    private static void apiKeyIsTheSameKeyOnBothServers(Server a, Server b) {
        assertThat(LimitResponse.remaining(Http.get(search(a), "X-API-Key", API_KEY)))
                .isEqualTo(990);
        assertThat(LimitResponse.remaining(Http.get(search(b), "X-API-Key", API_KEY)))
                .isEqualTo(980);
    }

    private static Set<String> keys(RedisProcess redis) {
        try (RedisConnection connection = RedisConnection.to(redis.address(PASSWORD))) {
            return connection.keys("*");
        }
    }

    private static URI hello(Server node) {
        return node.baseUri().resolve("api/hello");
    }

    private static URI search(Server node) {
        return node.baseUri().resolve("api/search");
    }
}
