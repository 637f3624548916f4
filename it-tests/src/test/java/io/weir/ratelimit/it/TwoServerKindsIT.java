// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Open Liberty and WildFly with one Redis and shared limits, by single requests and by the load script for {@code wrk}. */
@Tag("server")
@Tag("ci")
class TwoServerKindsIT {
    private static final int ROUNDS = 5;
    private static final int PLAN_LIMIT = 20;
    private static final String NAMESPACE = "it-" + UUID.randomUUID();

    private static RedisFixture redis;
    private static Server liberty;
    private static Server wildfly;

    @BeforeAll
    static void start() {
        redis = RedisFixture.shared();
        CompletableFuture<Server> starting = CompletableFuture.supplyAsync(
                () -> node(LibertyServer.named("kind-liberty")).start());
        try {
            wildfly = node(WildFlyServer.named("kind-wildfly")).start();
        } finally {
            liberty = starting.join();
        }
        warm(List.of(hello(liberty), hello(wildfly)));
    }

    @AfterAll
    static void stop() {
        if (liberty != null) {
            liberty.close();
        }
        if (wildfly != null) {
            wildfly.close();
        }
        try (RedisConnection connection = redis.connect()) {
            connection.drop("weir:2:{" + NAMESPACE + ":*");
        }
    }

    private static <B extends ServerBuilder<B>> B node(B server) {
        return server.environment("RATELIMIT_POLICIES_HELLO_LIMIT", "50/1m")
                .systemProperty("ratelimit.policies.hello.key", "header:X-API-Key")
                .systemProperty("ratelimit.policies.plan.key", "header:X-API-Key")
                .systemProperty("ratelimit.policies.plan.algorithm", "sliding-log")
                .systemProperty("ratelimit.policies.plan.limit", PLAN_LIMIT + "/1h")
                .systemProperty("ratelimit.policies.bursty.key", "header:X-API-Key")
                .systemProperty("ratelimit.policies.bursty.limit", "2/1s")
                .systemProperty("ratelimit.policies.bursty.burst", "2")
                .systemProperty("ratelimit.namespace", NAMESPACE)
                .systemProperty("ratelimit.redis.address", redis.address())
                .systemProperty("ratelimit.redis.deadline", "5s");
    }

    @AfterEach
    void redisHasDecided() {
        assertThat(liberty.log()).doesNotContain("WEIR-301");
        assertThat(wildfly.log()).doesNotContain("WEIR-301");
    }

    @Test
    void differentServersShareOneLimit() {
        List<URI> hello = List.of(hello(liberty), hello(wildfly));
        serversReportTheSameRemainingPermits(hello);
        serversAllowExactlyTheLimit(hello);
    }

    /** No permit of the sliding log returns within the test. */
    @Test
    void loadScriptCountsTheSharedLimit() {
        Tool wrk = Tool.named("wrk");
        LoadScript first = LoadScript.run(wrk, 3, 2, liberty.baseUri().resolve("api/plans/me"), "obey=no");
        assertThat(first.clients()).as(first.text()).hasSize(3).allSatisfy(client -> {
            assertThat(client.allowed()).isEqualTo(Math.min(PLAN_LIMIT, client.calls()));
            assertThat(client.rejected()).isEqualTo(client.calls() - client.allowed());
            assertThat(client.early()).isEqualTo(Math.max(0, client.rejected() - 1));
            assertThat(client.earlyAllowed()).isZero();
        });
        LoadScript second = LoadScript.run(wrk, 3, 1, wildfly.baseUri().resolve("api/plans/me"), "obey=no");
        assertThat(second.all().allowed())
                .as(second.text())
                .isLessThanOrEqualTo(3 * PLAN_LIMIT - first.all().allowed());
        for (LoadScript report : List.of(first, second)) {
            assertThat(report.statuses().keySet()).as(report.text()).isSubsetOf(200, 429);
            assertThat(report.statuses().getOrDefault(200, 0))
                    .isEqualTo(report.all().allowed());
            assertThat(report.statuses().getOrDefault(429, 0))
                    .isEqualTo(report.all().rejected());
        }
    }

    /** A client on one connection is allowed after each Retry-After, because no other call spends its permits. */
    @Test
    void clientsThatObeyTheRetryAfterAreAllowed() {
        Tool wrk = Tool.named("wrk");
        LoadScript report = LoadScript.run(wrk, 2, 4, liberty.baseUri().resolve("api/bursty"), "prefix=obeying-");
        assertThat(report.clients()).as(report.text()).hasSize(2).allSatisfy(client -> {
            assertThat(client.early()).isZero();
            assertThat(client.due()).isBetween(client.rejected() - 1, client.rejected());
            assertThat(client.dueAllowed()).isEqualTo(client.due());
            assertThat(client.other()).isZero();
        });
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
