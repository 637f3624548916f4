// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.redisson.RedisConnection;
import io.weir.ratelimit.redisson.RedisProcess;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Two server processes with one Redis. All secrets are canaries, and no output may hold one. */
class SharedRedisIT {
    private static final String PASSWORD = "canary-of-the-redis-password";
    private static final String KEY_SECRET = "canary-of-the-key-secret";
    private static final String API_KEY = "canary-of-an-api-key";

    @Test
    void oneLimitHoldsOverTwoNodesAndNoSecretIsSaid() {
        try (RedisProcess redis = RedisProcess.started("--requirepass", PASSWORD)) {
            CompletableFuture<LibertyServer> starting =
                    CompletableFuture.supplyAsync(() -> node("node-a", redis).start());
            try (LibertyServer b = node("node-b", redis).start();
                    LibertyServer a = starting.join()) {
                warm(a, b);
                exactlyFiftyOfTwoHundredAreLetIn(a, b);
                anApiKeyIsOneKeyOnBothNodes(a, b);
                Set<String> keys = keys(redis);
                assertThat(keys)
                        .hasSizeGreaterThanOrEqualTo(2)
                        .allMatch(
                                key -> key.matches("weir:1:\\{it:[a-z.-]+~[A-Za-z0-9_-]{22}}:(hello|compute):s60000"));

                redis.kill();
                for (LibertyServer node : List.of(a, b)) {
                    assertThat(Http.get(search(node), "X-API-Key", API_KEY).statusCode())
                            .isEqualTo(200);
                }
                b.kill();
                assertThat(b.handle().isAlive()).isFalse();
                assertThat(Http.get(search(a), "X-API-Key", API_KEY).statusCode())
                        .isEqualTo(200);
                a.stop();
                assertThat(a.handle().isAlive()).isFalse();
                for (LibertyServer node : List.of(a, b)) {
                    assertThat(node.log()).contains("WEIR-001", "WEIR-301");
                    Secrets.verifyUnsaid(node.directory(), "console.log", "messages.log", "trace.log");
                }
                assertThat(String.join(" ", keys)).doesNotContain("canary");
            }
        }
    }

    private static LibertyServer.Builder node(String name, RedisProcess redis) {
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

    /** A cold JVM answers late; what it warms on is another policy. */
    private static void warm(LibertyServer... nodes) {
        for (int i = 0; i < 15; i++) {
            for (LibertyServer node : nodes) {
                HttpResponse<String> response = Http.get(search(node), "X-API-Key", "warm " + i);
                assertThat(response.statusCode()).isEqualTo(200);
                assertThat(Refusal.remaining(response)).isIn(980L, 990L);
            }
        }
    }

    private static void exactlyFiftyOfTwoHundredAreLetIn(LibertyServer a, LibertyServer b) {
        List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            sent.add(Http.getAsync(hello(a)));
            sent.add(Http.getAsync(hello(b)));
        }
        List<HttpResponse<String>> answers =
                sent.stream().map(CompletableFuture::join).toList();

        Map<Integer, Long> count =
                answers.stream().collect(Collectors.groupingBy(HttpResponse::statusCode, Collectors.counting()));
        assertThat(count).isEqualTo(Map.of(200, 50L, 429, 150L));
        // Each of the fifty was told another number: none was let in without the store.
        assertThat(answers.stream()
                        .filter(answer -> answer.statusCode() == 200)
                        .map(Refusal::remaining)
                        .collect(Collectors.toMap(Function.identity(), remaining -> 1, Integer::sum)))
                .hasSize(50)
                .containsOnlyKeys(Stream.iterate(0L, n -> n + 1).limit(50).toArray(Long[]::new));
        assertThat(answers.stream().filter(answer -> answer.statusCode() == 429))
                .allSatisfy(answer -> Refusal.verify(answer, "hello"));
    }

    private static void anApiKeyIsOneKeyOnBothNodes(LibertyServer a, LibertyServer b) {
        assertThat(Refusal.remaining(Http.get(search(a), "X-API-Key", API_KEY))).isEqualTo(990);
        assertThat(Refusal.remaining(Http.get(search(b), "X-API-Key", API_KEY))).isEqualTo(980);
    }

    private static Set<String> keys(RedisProcess redis) {
        try (RedisConnection connection = RedisConnection.to(redis.address(PASSWORD))) {
            return connection.keys("*");
        }
    }

    private static URI hello(LibertyServer node) {
        return node.baseUri().resolve("api/hello");
    }

    private static URI search(LibertyServer node) {
        return node.baseUri().resolve("api/search");
    }
}
