// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.StringReader;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The pages about backends, most of which need Redis. */
interface HowToBackends extends HowToCalls {
    /** Creates the user of the page about Redis, with its rights. */
    static void createUser(RedisProcess redis) {
        try (RedisConnection connection = redis.connect()) {
            connection.call((Object[])
                    HowToPage.of("redis").commands("Rights").get(0).strip().split(" "));
        }
    }

    /** A single server with the user of the page. Tests of {@code weir-redisson-backend} start clusters, Sentinel and TLS. */
    @Test
    default void redis() {
        awaitConnected("redis");
        assertThat(isLogged("WEIR-001 Rate limits are enabled. Backend: redisson"))
                .isTrue();
        assertThat(isLogged("WEIR-411 Connected to Redis.")).isTrue();
        try (RedisConnection connection = redis("redis").connect()) {
            assertThat(connection.keys("*")).isNotEmpty().allMatch(key -> key.startsWith("weir:2:{shop:"));
            assertThat((List<?>) connection.call("ACL", "LOG")).isEmpty();
        }
    }

    @Test
    default void leases() {
        awaitConnected("leases");
        String load = HowToPage.of("leases")
                .commands("Test it")
                .get(1)
                .lines()
                .filter(line -> line.startsWith("curl "))
                .collect(Collectors.joining("\n"));
        try (RedisConnection connection = redis("leases").connect()) {
            long before = connection.calls("evalsha");
            assertThat(server().run("leases", load)).contains("ratelimit_leases{");
            assertThat(connection.calls("evalsha") - before)
                    .as("script calls for 5,000 calls")
                    .isBetween(1L, 500L);
        }
        assertThat(HowToCalls.remaining(get("leases", "hello"), "hello")).isBetween(90_000L, 99_000L);
    }

    @Test
    default void migrateFromBucket4j() {
        awaitConnected("migrate-from-bucket4j");
        HttpResponse<String> response = get("migrate-from-bucket4j", "orders");
        assertThat(LimitResponse.field(response, "RateLimit-Policy"))
                .isEqualTo("\"api-burst\";q=10;w=1, \"api-hour\";q=5000;w=3600");
        List<Integer> statuses = IntStream.range(0, 200)
                .mapToObj(call -> Http.getAsync(server().uri("migrate-from-bucket4j", "api/orders")))
                .toList()
                .stream()
                .map(call -> call.join().statusCode())
                .toList();
        assertThat(statuses).containsOnly(200, 429);
    }

    @Test
    default void writeABackend() {
        assertThat(isLogged("WEIR-001 Rate limits are enabled. Backend: fixed-window"))
                .isTrue();
        assertThat(statuses(3, "write-a-backend", "hello")).containsExactly(200, 200, 429);
    }

    @Test
    default void whenRedisIsAway() {
        String page = "when-redis-is-away";
        RedisProcess redis = redis(page);
        awaitConnected(page);
        redis.kill();
        for (int call = 0; call < 6; call++) {
            HttpResponse<String> local = get(page, "hello");
            assertThat(local.statusCode()).isEqualTo(200);
            LimitResponse.verifyNoQuota(local);
            HttpResponse<String> closed = get(page, "login");
            assertThat(closed.statusCode()).isEqualTo(503);
            assertThat(LimitResponse.number(closed, "Retry-After")).isPositive();
        }
        Await.until("the breaker has opened", TIMEOUT, () -> isLogged("WEIR-416"));
        assertThat(isLogged("WEIR-301")).isTrue();

        redis.start();
        Await.until(
                "the breaker has closed",
                TIMEOUT,
                Duration.ofMillis(200),
                () -> get(page, "login").statusCode() == 200);
        Await.until("the end is logged", TIMEOUT, Duration.ofMillis(200), () -> {
            get(page, "hello");
            return isLogged("WEIR-418") && isLogged("WEIR-302");
        });
        Await.until("a limit is exhausted", TIMEOUT, () -> get(page, "login").statusCode() == 429);
        redis.kill();
        HttpResponse<String> known = get(page, "login");
        assertThat(known.statusCode()).as("a known rejection").isEqualTo(429);
        assertThat(LimitResponse.number(known, "Retry-After")).isBetween(1L, 120L);
        redis.start();
    }

    @Test
    default void health() {
        RedisProcess redis = redis("health");
        Await.until("the backend is up", TIMEOUT, () -> readiness().contains("UP up"));
        redis.kill();
        Await.until(
                "a call has failed",
                TIMEOUT,
                () -> get("health", "hello").headers().allValues("RateLimit").isEmpty());
        assertThat(readiness()).contains("DOWN degraded");
        assertThat(Health.of(server().root(), "live").up()).isTrue();
        redis.start();
        Await.until(
                "the check has detected the recovery",
                TIMEOUT,
                Duration.ofMillis(200),
                () -> readiness().contains("UP up"));
    }

    /** Returns the status and the state of each check with the Redis backend, whose data are those of the page. */
    private List<String> readiness() {
        String json = server().run(
                        "health", HowToPage.of("health").commands("").get(0).replace("curl", "curl -s"));
        return Json.createReader(new StringReader(json)).readObject().getJsonArray("checks").stream()
                .map(JsonObject.class::cast)
                .filter(check ->
                        check.getJsonObject("data").getString("backend", "").equals("redisson"))
                .map(check -> check.getString("status") + " "
                        + check.getJsonObject("data").getString("state"))
                .toList();
    }

    @Test
    default void sellPlans() {
        String page = "sell-plans";
        Await.until(
                "Redis is connected",
                TIMEOUT,
                Duration.ofMillis(200),
                () -> policies(page, "bob").startsWith("\"rate\";q=10;w=1, \"plan\";q=5;w="));
        assertThat(test(page, 1)).isEqualTo("200\n200\n200\n200\n200\n429\n");
        Await.until(
                "two mails",
                TIMEOUT,
                () -> get(page, "plans/mails").body().lines().count() == 2);
        assertThat(get(page, "plans/mails").body().lines())
                .containsExactlyInAnyOrder("alice: 80 % of 5 calls are used", "alice: 100 % of 5 calls are used");

        post(page, "plans/alice/pro");
        awaitQuota(page, "alice", "\"permits\":100000,", "\"remaining\":99995,");
        awaitQuota(page, "acme", "\"permits\":100000,", "-01T00:00:00+0");
        awaitQuota(page, "globex", "\"permits\":250000,", "-15T00:00:00+0");
        assertThat(policies(page, "globex")).startsWith("\"rate\";q=50;w=1, \"plan\";q=250000;w=");
    }

    private String policies(String page, String user) {
        return get(page, "reports", "Authorization", HowToLimits.basic(user, "secret"))
                .headers()
                .firstValue("RateLimit-Policy")
                .orElse("");
    }

    /** Reads the quotas of a user, which spends no permits, until the look-ups of its plan and contract have answered. */
    private void awaitQuota(String page, String user, String... parts) {
        String[] login = {"Authorization", HowToLimits.basic(user, "secret")};
        Await.until(
                user + " has " + List.of(parts),
                TIMEOUT,
                Duration.ofSeconds(1),
                () -> List.of(parts).stream()
                        .allMatch(Http.get(server().uri(page, "rate-limits"), login)
                                .body()::contains));
    }

    private void awaitConnected(String page) {
        String path = page.equals("migrate-from-bucket4j") ? "orders" : "hello";
        Await.until(
                "Redis is connected",
                TIMEOUT,
                Duration.ofMillis(200),
                () -> !get(page, path).headers().allValues("RateLimit").isEmpty());
    }
}
