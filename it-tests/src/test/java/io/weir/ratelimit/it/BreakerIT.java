// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.net.URI;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The breaker on each server, configured by the properties of MicroProfile Fault Tolerance, while Redis is paused and after it is killed.
 * The failure mode of {@code hello} is open, and that of {@code compute} is closed.
 */
@Tag("ci")
@Tag("server")
class BreakerIT {
    private static final String TUNING = "io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/";
    private static final Duration DEADLINE = Duration.ofSeconds(1);

    /** The first delay of the breaker is at most one second, and so never grows. */
    private static final Duration DELAY = Duration.ofSeconds(1);

    /** The delay with half of it as jitter, in whole seconds. */
    private static final Duration LONGEST_WAIT = DELAY.multipliedBy(2);

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int REQUESTS = 40;
    private static final int CALLERS = 64;
    private static final Duration PAUSE = Duration.ofMillis(50);

    private Server server;
    private FaultProxy proxy;
    private int logOffset;
    private long firstOutageNanos;

    /** Receives the metrics of WildFly, which has no MicroProfile Metrics; null on the other servers. */
    private OtlpReceiver collector;

    /** The port of the health checks on WildFly; 0 for the port of the application. */
    private int healthPort;

    @Test
    void openLiberty() {
        opensAndClosesTheBreaker(LibertyServer.named("breaker-liberty"), 3);
    }

    @Test
    void payaraMicro() {
        opensAndClosesTheBreaker(PayaraServer.named("breaker-payara"), 4);
    }

    @Test
    void wildFly() {
        WildFlyServer kind = WildFlyServer.named("breaker-wildfly");
        healthPort = kind.managementPort();
        try (OtlpReceiver receiver = new OtlpReceiver()) {
            collector = receiver;
            kind.systemProperty("otel.sdk.disabled", "false")
                    .systemProperty("otel.exporter.otlp.endpoint", receiver.endpoint())
                    .systemProperty("otel.exporter.otlp.protocol", "http/protobuf")
                    .systemProperty("otel.metric.export.interval", "200");
            opensAndClosesTheBreaker(kind, 5);
        }
    }

    @Test
    void disabledBreakerNeverOpens() {
        try (RedisProcess redis = RedisProcess.notStarted();
                Server started = tuned(LibertyServer.named("breaker-off"), redis.address(), 3)
                        .systemProperty(TUNING + "enabled", "false")
                        .start()) {
            server = started;
            redis.start();
            warm();
            redis.kill();
            for (int i = 0; i < 20; i++) {
                assertThat(search().statusCode()).isEqualTo(503);
            }
            assertThat(lines("WEIR-301")).isEqualTo(1);
            assertThat(lines("WEIR-416")).isZero();
            Health ready = Health.of(server.baseUri(), "ready");
            assertThat(ready.status()).as("the state is only information").isEqualTo(200);
            assertThat(ready.up()).isTrue();
            assertThat(ready.text("state")).isEqualTo("degraded");
            assertThat(ready.text("breaker")).isEqualTo("closed");
            assertThat(ready.text("lastError")).isEqualTo("connection");
            assertThat(ready.number("degradedDecisions")).isGreaterThanOrEqualTo(20);
        }
    }

    private void opensAndClosesTheBreaker(ServerBuilder<?> kind, int volume) {
        try (RedisProcess redis = RedisProcess.started();
                FaultProxy faultProxy = FaultProxy.inFrontOf(redis);
                Server started = tuned(kind, faultProxy.address(), volume)
                        .systemProperty("ratelimit.health.fail-when-degraded", "true")
                        .start()) {
            server = started;
            proxy = faultProxy;
            warm();
            successfulRequestsDoNotEnterTheBreakerOfTheServer();
            firstOutageNanos = System.nanoTime();
            redis.pause();
            try {
                opensAfter(volume);
                openBreakerDecidesAtOnce();
                proxy.blackhole();
            } finally {
                redis.resume();
            }
            onlyProbesAreSent();
            isNotReadyButAlive();
            proxy.forward();
            becomesReadyWithoutARequest();
            closesAndLimitsAgain(1);
            redis.kill();
            Await.until("WEIR-416 again", TIMEOUT, () -> search().statusCode() == 503 && lines("WEIR-416") == 2);
            openBreakerDecidesAtOnce();
            redis.start();
            closesAndLimitsAgain(2);
            serverBreakerWasInvolved(volume);
        }
    }

    private static ServerBuilder<?> tuned(ServerBuilder<?> kind, String redis, int volume) {
        return kind.systemProperty("ratelimit.redis.address", redis)
                .systemProperty("ratelimit.redis.deadline", DEADLINE.toMillis() + "ms")
                .systemProperty("ratelimit.policies.hello.limit", "3/1h")
                .systemProperty("ratelimit.policies.hello.key", "header:X-Client")
                .systemProperty("ratelimit.policies.compute.limit", "1000000/1h")
                .systemProperty("ratelimit.policies.compute.on-failure", "closed")
                .systemProperty(TUNING + "requestVolumeThreshold", Integer.toString(volume))
                .systemProperty(TUNING + "delay", Long.toString(DELAY.toMillis()));
    }

    /** Warms up the JVM, whose first responses are slow enough for timeouts. */
    private void warm() {
        int[] consecutive = {0};
        Await.until("ten consecutive decisions of the backend and no outage", TIMEOUT, () -> {
            consecutive[0] = search().statusCode() == 200 ? consecutive[0] + 1 : 0;
            return consecutive[0] >= 10 && lines("WEIR-301") == lines("WEIR-302");
        });
        logOffset = server.log().length();
    }

    private void successfulRequestsDoNotEnterTheBreakerOfTheServer() {
        awaitMetrics(1);
        double before = callsOfTheServerBreaker();
        for (int i = 0; i < REQUESTS; i++) {
            assertThat(search().statusCode()).isEqualTo(200);
        }
        awaitMetrics(2);
        assertThat(callsOfTheServerBreaker() - before).isZero();
    }

    /** Waits until the metrics contain all requests so far, by a request of a policy without other ones. */
    private void awaitMetrics(int times) {
        assertThat(hello("metrics").statusCode()).isEqualTo(200);
        String decisions = collector == null ? "ratelimit.decisions.total" : "ratelimit.decisions";
        Await.until("metrics", TIMEOUT, PAUSE, () -> sum(decisions, "policy=hello") == times);
    }

    private double callsOfTheServerBreaker(String... tags) {
        return serverBreakerMetric("ft.circuitbreaker.calls.total", tags);
    }

    private double serverBreakerMetric(String metric, String... tags) {
        List<String> all = new ArrayList<>(List.of(tags));
        all.add("method=io.weir.ratelimit.redisson.RedisGuard.call");
        return sum(metric, all.toArray(String[]::new));
    }

    /** Returns the sum of the series with a name of the specification and tags as {@code tag=value}. */
    private double sum(String metric, String... tags) {
        return collector == null
                ? Scrape.of(server)
                        .sum(
                                metric.replace('.', '_'),
                                Stream.of(tags)
                                        .map(tag -> tag.replace("=", "=\"") + '"')
                                        .toArray(String[]::new))
                : collector.sum(metric, tags);
    }

    private void opensAfter(int volume) {
        int before = lines("WEIR-416");
        for (int call = 1; call <= volume; call++) {
            assertThat(lines("WEIR-416")).as("before call %d", call).isEqualTo(before);
            long start = System.nanoTime();
            HttpResponse<String> response = search();
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("call %d waits for Redis", call)
                    .isGreaterThan(DEADLINE.dividedBy(2));
            LimitResponse.verifyUnavailable(response);
        }
        Await.until("WEIR-416", TIMEOUT, () -> lines("WEIR-416") == before + 1);
    }

    private void openBreakerDecidesAtOnce() {
        List<Duration> durations = new ArrayList<>();
        List<Long> seconds = new ArrayList<>();
        int opened = lines("WEIR-416");
        for (int i = 0; i < REQUESTS; i++) {
            long start = System.nanoTime();
            HttpResponse<String> response = i % 2 == 0 ? hello("any client") : search();
            durations.add(Duration.ofNanos(System.nanoTime() - start));
            if (i % 2 == 0) {
                assertThat(response.statusCode()).isEqualTo(200);
                LimitResponse.verifyNoQuota(response);
            } else {
                seconds.add(verifyProbeTime(response));
            }
        }
        assertThat(seconds.get(0)).as("the whole delay remains").isBetween(DELAY.toSeconds(), LONGEST_WAIT.toSeconds());
        assertThat(durations.stream().sorted().toList().get(REQUESTS / 2)).isLessThan(DEADLINE.dividedBy(3));
        assertThat(lines("WEIR-416")).isEqualTo(opened);
    }

    /** Verifies a rejection with the time until the next probe and up to half of it, and returns that time in seconds. */
    private static long verifyProbeTime(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(503);
        long seconds = LimitResponse.number(response, "Retry-After");
        assertThat(seconds).isBetween(1L, LONGEST_WAIT.toSeconds());
        LimitResponse.verifyUnavailable(response, seconds);
        return seconds;
    }

    /** Verifies that no caller waits for a probe or sends a command, while Redis does not answer. */
    private void onlyProbesAreSent() {
        long before = proxy.scripts();
        long start = System.nanoTime();
        List<CompletableFuture<HttpResponse<String>>> calls = IntStream.range(0, CALLERS)
                .mapToObj(i -> Http.getAsync(uri("api/search")))
                .toList();
        calls.forEach(call -> assertThat(call.join().statusCode()).isEqualTo(503));
        long sent = proxy.scripts() - before;
        long delays = (System.nanoTime() - start) / DELAY.toNanos();
        assertThat(sent).as("probes").isLessThanOrEqualTo(1 + delays);
    }

    private void isNotReadyButAlive() {
        Health ready = Health.of(health(), "ready");
        assertThat(ready.status()).isEqualTo(503);
        assertThat(ready.up()).isFalse();
        assertThat(ready.text("backend")).isEqualTo("redisson");
        assertThat(ready.text("state")).isEqualTo("degraded");
        assertThat(ready.text("breaker")).isEqualTo("open");
        assertThat(ready.text("lastError")).isEqualTo("timeout");
        assertThat(ready.number("nextProbeSeconds")).isBetween(0, (int) DELAY.toSeconds());
        Health live = Health.of(health(), "live");
        assertThat(live.status()).isEqualTo(200);
        assertThat(live.text("breaker")).isEqualTo("open");
    }

    /** Verifies that the health check itself probes Redis, because an instance that is not ready receives no requests. */
    private void becomesReadyWithoutARequest() {
        Await.until("ready again", TIMEOUT, () -> {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            return Health.of(health(), "ready").up();
        });
        assertThat(lines("WEIR-418")).isEqualTo(1);
        assertThat(Health.of(health(), "ready").text("state")).isEqualTo("up");
    }

    private URI health() {
        return healthPort == 0 ? server.baseUri() : URI.create("http://localhost:" + healthPort + "/");
    }

    private void closesAndLimitsAgain(int times) {
        Await.until("WEIR-418", TIMEOUT, () -> {
            search();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            return lines("WEIR-418") == times && lines("WEIR-302") == times;
        });
        String client = "after " + times;
        for (int status : new int[] {200, 200, 200, 429}) {
            assertThat(hello(client).statusCode()).isEqualTo(status);
        }
        assertThat(lines("WEIR-301")).isEqualTo(times);
        assertThat(lines("WEIR-416")).isEqualTo(times);
    }

    private void serverBreakerWasInvolved(int volume) {
        Await.until(
                "the breaker of the server has opened twice",
                TIMEOUT,
                PAUSE,
                () -> serverBreakerMetric("ft.circuitbreaker.opened.total") >= 2
                        && callsOfTheServerBreaker("circuitBreakerResult=failure") >= 2 * volume);
        // A failed probe opens the breaker again, at most once in each delay.
        double probes = serverBreakerMetric("ft.circuitbreaker.opened.total");
        assertThat(probes).isLessThanOrEqualTo(2 + (System.nanoTime() - firstOutageNanos) / DELAY.toNanos());
        assertThat(callsOfTheServerBreaker()).as("of some hundred requests").isLessThan(10 * volume + 2 * probes);
    }

    private HttpResponse<String> hello(String client) {
        return Http.get(uri("api/hello"), "X-Client", client);
    }

    private HttpResponse<String> search() {
        return Http.get(uri("api/search"));
    }

    private URI uri(String path) {
        return server.baseUri().resolve(path);
    }

    private int lines(String message) {
        return (int) Pattern.compile(message)
                .matcher(server.log().substring(logOffset))
                .results()
                .count();
    }
}
