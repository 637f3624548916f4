// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.redisson.Await;
import io.weir.ratelimit.redisson.RedisConnection;
import io.weir.ratelimit.redisson.RedisProcess;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * One server's day: Redis is absent at its start, comes, stands still, goes on, and is killed. {@code hello} is open as by default;
 * {@code compute} and the report's bean are closed.
 */
class RedisOutageIT {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final Pattern AWAY = Pattern.compile("WARNING.*WEIR-301.*");
    private static final Pattern BACK =
            Pattern.compile("WEIR-302 .* answers again after \\d+ s; (\\d+) decisions were taken without it");

    /** The deadline is 300 ms. A request in the middle is well below the client's own time-out of a second ... */
    private static final Duration USUAL = Duration.ofMillis(700);

    /** ... and one that a busy machine lets wait is bounded all the same. */
    private static final Duration WORST = Duration.ofSeconds(3);

    private Server server;

    /** Decisions that this client saw taken without the store since the last one with it. */
    private int degraded;

    @Test
    void theApplicationServesThroughOutages() {
        try (RedisProcess redis = RedisProcess.absent();
                Server started = LibertyServer.named("outage")
                        .systemProperty("ratelimit.redis.address", redis.address())
                        .systemProperty("ratelimit.redis.deadline", "300ms")
                        .systemProperty("io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/delay", "1")
                        .systemProperty("ratelimit.policies.compute.on-failure", "closed")
                        .environment("RATELIMIT_POLICIES__REPORTSERVICE_REPORT__ON_FAILURE", "closed")
                        .start()) {
            server = started;
            absentAtTheStart();
            isTakenUpByItself(redis);
            holdsTheDocumentedKey(redis);
            standsStill(redis);
            isKilled(redis);
        }
    }

    private void absentAtTheStart() {
        closedPoliciesAnswer503();
        letThrough(8);
        closedPoliciesAnswer503();
        assertThat(lines(AWAY)).hasSize(1);
        assertThat(lines(AWAY).get(0)).contains("redisson");
        assertThat(lines(BACK)).isEmpty();
    }

    private void closedPoliciesAnswer503() {
        Refusal.verifyUnavailable(get("api/search"));
        Refusal.verifyUnavailable(get("api/report"));
        degraded += 2;
    }

    private void letThrough(int times) {
        List<Duration> durations = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            long start = System.nanoTime();
            HttpResponse<String> response = get("api/hello");
            durations.add(Duration.ofNanos(System.nanoTime() - start));
            assertThat(response.statusCode()).isEqualTo(200);
            Refusal.verifyNoQuota(response);
            degraded++;
        }
        assertThat(durations.stream().sorted().toList().get(times / 2)).isLessThan(USUAL);
        assertThat(durations).allMatch(duration -> duration.compareTo(WORST) < 0);
    }

    private void isTakenUpByItself(RedisProcess redis) {
        redis.start();
        awaitReturn(1);
        // Nobody did anything, and the limit holds.
        Await.until("hello is refused", PATIENCE, () -> get("api/hello").statusCode() == 429);
        Refusal.verify(get("api/hello"), "hello");
        assertThat(get("api/report").statusCode()).isEqualTo(200);
        assertThat(lines(AWAY)).hasSize(1);
    }

    /** Asks until the return is logged: as often as it takes, and not more than once. */
    private void awaitReturn(int times) {
        Await.until("WEIR-302, " + times + " times", PATIENCE, PAUSE, () -> {
            HttpResponse<String> response = get("api/search");
            if (response.statusCode() == 503) {
                degraded++;
            }
            return lines(BACK).size() == times;
        });
        assertThat(counts(BACK).get(times - 1)).isEqualTo(degraded);
        degraded = 0;
    }

    private void holdsTheDocumentedKey(RedisProcess redis) {
        String key = "weir:1:{default:i.127.0.0.1}:hello:s10000";
        try (RedisConnection connection = redis.connect()) {
            assertThat(connection.keys("*")).contains(key);
            // Whole again after two windows, and kept at most twice as long.
            assertThat(connection.number("PTTL", key)).isBetween(1L, 40_000L);
            connection.call("DEL", key);
        }
        // The refusal before is remembered for up to a second, whatever becomes of the key.
        AtomicReference<HttpResponse<String>> first = new AtomicReference<>(get("api/hello"));
        Await.until("hello is let in again", Duration.ofSeconds(3), PAUSE, () -> {
            if (first.get().statusCode() == 429) {
                first.set(get("api/hello"));
            }
            return first.get().statusCode() == 200;
        });
        assertThat(Refusal.remaining(first.get())).isEqualTo(4);
        try (RedisConnection connection = redis.connect()) {
            assertThat(connection.number("PTTL", key)).isBetween(18_000L, 40_000L);
        }
    }

    private void standsStill(RedisProcess redis) {
        redis.pause();
        try {
            letThrough(7);
            Refusal.verifyUnavailable(get("api/search"));
            degraded++;
            assertThat(lines(AWAY)).hasSize(2);
        } finally {
            redis.resume();
        }
        awaitReturn(2);
    }

    private void isKilled(RedisProcess redis) {
        redis.kill();
        letThrough(10);
        closedPoliciesAnswer503();
        assertThat(lines(AWAY)).hasSize(3);
        assertThat(lines(BACK)).hasSize(2);
    }

    private HttpResponse<String> get(String path) {
        return Http.get(server.baseUri().resolve(path));
    }

    private List<String> lines(Pattern pattern) {
        return pattern.matcher(server.log()).results().map(MatchResult::group).toList();
    }

    private List<Integer> counts(Pattern pattern) {
        return pattern.matcher(server.log())
                .results()
                .map(result -> Integer.valueOf(result.group(1)))
                .toList();
    }
}
