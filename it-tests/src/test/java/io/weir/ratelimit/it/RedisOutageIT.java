// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A server while Redis is missing at the start, starts, is paused, resumes and is killed. The failure mode of {@code hello} is open, which
 * is the default. That of {@code compute} and of the report bean is closed.
 */
@Tag("ci")
@Tag("server")
class RedisOutageIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final Pattern UNAVAILABLE = Pattern.compile("WARNING.*WEIR-301.*");
    private static final Pattern FOREIGN = Pattern.compile("WARNING.*WEIR-320.* of policy hello");
    private static final String HELLO_KEY = "weir:2:{default:i.127.0.0.1}:hello";
    private static final Pattern AVAILABLE = Pattern.compile("WEIR-302 .* again after \\d+ s\\D+(\\d+)");

    /** The deadline is 300 ms, so the median is well below the timeout of Redisson, which is one second. */
    private static final Duration MAX_MEDIAN = Duration.ofMillis(700);

    /** The bound for each request, also on a slow machine. */
    private static final Duration MAX_DURATION = Duration.ofSeconds(3);

    /** The delay of the breaker, one second, with half of it as jitter, rounded up. */
    private static final long LONGEST_WAIT = 2;

    private Server server;

    /** The number of degraded decisions since the last decision of the backend. */
    private int degraded;

    @Test
    void servesThroughOutages() {
        try (RedisProcess redis = RedisProcess.notStarted();
                Server started = LibertyServer.named("outage")
                        .systemProperty("ratelimit.redis.address", redis.address())
                        .systemProperty("ratelimit.redis.deadline", "300ms")
                        .systemProperty("io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/delay", "1000")
                        .systemProperty("ratelimit.policies.compute.on-failure", "closed")
                        .environment("RATELIMIT_POLICIES__REPORTSERVICE_REPORT__ON_FAILURE", "closed")
                        .start()) {
            server = started;
            startsWithoutRedis();
            recoversByItself(redis);
            usesTheDocumentedKey(redis);
            servesWhileRedisIsPaused(redis);
            reportsForeignDataUnderAKey(redis);
            keepsRejectingWhileRedisIsKilled(redis);
            servesWhileRedisIsKilled();
        }
    }

    private void startsWithoutRedis() {
        closedPoliciesAnswer503(1);
        allows(8);
        closedPoliciesAnswer503(1);
        assertThat(lines(UNAVAILABLE)).hasSize(1);
        assertThat(lines(UNAVAILABLE).get(0)).contains("redisson");
        assertThat(lines(AVAILABLE)).isEmpty();
    }

    private void closedPoliciesAnswer503(long longestWait) {
        verifyUnavailable("api/search", longestWait);
        verifyUnavailable("api/report", longestWait);
        degraded += 2;
    }

    private void verifyUnavailable(String path, long longestWait) {
        HttpResponse<String> response = get(path);
        long seconds = LimitResponse.number(response, "Retry-After");
        assertThat(seconds).isBetween(1L, longestWait);
        LimitResponse.verifyUnavailable(response, seconds);
    }

    private void allows(int times) {
        List<Duration> durations = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            long start = System.nanoTime();
            HttpResponse<String> response = get("api/hello");
            durations.add(Duration.ofNanos(System.nanoTime() - start));
            assertThat(response.statusCode()).isEqualTo(200);
            LimitResponse.verifyNoQuota(response);
            degraded++;
        }
        assertThat(durations.stream().sorted().toList().get(times / 2)).isLessThan(MAX_MEDIAN);
        assertThat(durations).allMatch(duration -> duration.compareTo(MAX_DURATION) < 0);
    }

    private void recoversByItself(RedisProcess redis) {
        redis.start();
        awaitRecovery(1);
        // The limit applies without any intervention.
        Await.until("hello is rejected", TIMEOUT, () -> get("api/hello").statusCode() == 429);
        LimitResponse.verifyRejected(get("api/hello"), "hello");
        assertThat(get("api/report").statusCode()).isEqualTo(200);
        assertThat(lines(UNAVAILABLE)).hasSize(1);
    }

    /** Sends requests until the recovery is logged. */
    private void awaitRecovery(int times) {
        Await.until("WEIR-302, " + times + " times", TIMEOUT, PAUSE, () -> {
            HttpResponse<String> response = get("api/search");
            if (response.statusCode() == 503) {
                degraded++;
            }
            return lines(AVAILABLE).size() == times;
        });
        assertThat(counts(AVAILABLE).get(times - 1)).isEqualTo(degraded);
        degraded = 0;
    }

    private void usesTheDocumentedKey(RedisProcess redis) {
        try (RedisConnection connection = redis.connect()) {
            assertThat(connection.keys("*")).contains(HELLO_KEY);
            // The key recovers after two windows, and its TTL is at most twice as long.
            assertThat(connection.number("PTTL", HELLO_KEY)).isBetween(1L, 40_000L);
            connection.call("DEL", HELLO_KEY);
        }
        // The rejection is cached for up to one second, independently of the key.
        AtomicReference<HttpResponse<String>> first = new AtomicReference<>(get("api/hello"));
        Await.until("hello is allowed again", Duration.ofSeconds(3), PAUSE, () -> {
            if (first.get().statusCode() == 429) {
                first.set(get("api/hello"));
            }
            return first.get().statusCode() == 200;
        });
        assertThat(LimitResponse.remaining(first.get())).isEqualTo(4);
        try (RedisConnection connection = redis.connect()) {
            assertThat(connection.number("PTTL", HELLO_KEY)).isBetween(18_000L, 40_000L);
        }
    }

    private void servesWhileRedisIsPaused(RedisProcess redis) {
        redis.pause();
        try {
            allows(7);
            verifyUnavailable("api/search", LONGEST_WAIT);
            degraded++;
            assertThat(lines(UNAVAILABLE)).hasSize(2);
        } finally {
            redis.resume();
        }
        awaitRecovery(2);
    }

    private void reportsForeignDataUnderAKey(RedisProcess redis) {
        try (RedisConnection connection = redis.connect()) {
            connection.call("SET", HELLO_KEY, "foreign data");
        }
        for (int i = 0; i < 7; i++) {
            LimitResponse.verifyNoQuota(get("api/hello"));
        }
        assertThat(get("api/search").statusCode()).isEqualTo(200);
        assertThat(lines(FOREIGN)).hasSize(1);
        assertThat(lines(UNAVAILABLE)).hasSize(2);
    }

    /** A caller over a limit gains nothing by an outage: the failure modes apply at the end of its rejection. */
    private void keepsRejectingWhileRedisIsKilled(RedisProcess redis) {
        try (RedisConnection connection = redis.connect()) {
            connection.call("DEL", HELLO_KEY);
        }
        Await.until(
                "both policies reject",
                TIMEOUT,
                () -> get("api/hello").statusCode() == 429 && get("api/report").statusCode() == 429);
        redis.kill();
        LimitResponse.verifyRejected(get("api/hello"), "hello");
        assertThat(get("api/report").statusCode()).isEqualTo(429);
        verifyUnavailable("api/search", LONGEST_WAIT);
        Await.until(
                "the end of both rejections",
                TIMEOUT,
                PAUSE,
                () -> get("api/hello").statusCode() == 200 && get("api/report").statusCode() == 503);
    }

    private void servesWhileRedisIsKilled() {
        allows(10);
        closedPoliciesAnswer503(LONGEST_WAIT);
        assertThat(lines(UNAVAILABLE)).hasSize(3);
        assertThat(lines(AVAILABLE)).hasSize(2);
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
