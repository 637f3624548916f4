// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The breaker of MicroProfile Fault Tolerance on each server, with a failure ratio of 0.4. No two failures follow each other, so that the
 * breaker of Weir would never open alone: it needs ten in a row. The failure mode of {@code hello} is open, and that of {@code compute} is
 * closed.
 */
@Tag("server")
@Tag("ci")
class ServerBreakerIT {
    private static final String METHOD = "io.weir.ratelimit.redisson.RedisGuard.call";
    private static final String TUNING = "io.weir.ratelimit.redisson.RedisGuard/call/CircuitBreaker/";
    private static final String ERROR = "LOADING Redis is loading the dataset in memory";
    private static final Pattern OPENED =
            Pattern.compile("WEIR-416 .*: the breaker of MicroProfile Fault Tolerance is open\\.");
    private static final Pattern CLOSED = Pattern.compile("WEIR-418");
    private static final Pattern RECOVERED = Pattern.compile("WEIR-302 .*\\(.*breaker-open (\\d+)");
    private static final Duration DELAY = Duration.ofSeconds(2);
    private static final Duration LONGEST_WAIT = DELAY.plus(DELAY.dividedBy(2));
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Duration UNCOUNTED = Duration.ofSeconds(1);
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final int VOLUME = 10;
    private static final int REQUESTS = 20;

    /** Reads a counter of the breaker of the server. */
    private interface Counters {
        /** Returns the sum of the series with a name and a tag, in the names of the specification. */
        double sum(String name, String tag, String value);
    }

    private Server server;
    private FaultProxy proxy;
    private Counters counters;
    private int logOffset;

    @Test
    void openLiberty() {
        counters = this::scraped;
        opensAndCloses(LibertyServer.named("server-breaker-liberty"));
    }

    @Test
    void payaraMicro() {
        counters = this::scraped;
        opensAndCloses(PayaraServer.named("server-breaker-payara"));
    }

    /** WildFly has no MicroProfile Metrics and exports these metrics to OpenTelemetry. */
    @Test
    void wildFly() {
        try (OtlpReceiver collector = new OtlpReceiver()) {
            counters = (name, tag, value) -> collector.sum(name, "method=" + METHOD, tag + "=" + value);
            opensAndCloses(WildFlyServer.named("server-breaker-wildfly")
                    .systemProperty("otel.sdk.disabled", "false")
                    .systemProperty("otel.exporter.otlp.endpoint", collector.endpoint())
                    .systemProperty("otel.exporter.otlp.protocol", "http/protobuf")
                    .systemProperty("otel.metric.export.interval", "200"));
        }
    }

    private void opensAndCloses(ServerBuilder<?> kind) {
        try (RedisProcess redis = RedisProcess.started();
                FaultProxy faultProxy = FaultProxy.inFrontOf(redis);
                Server started = kind.systemProperty("ratelimit.redis.address", faultProxy.address())
                        .systemProperty("ratelimit.redis.deadline", "10s")
                        .systemProperty("ratelimit.policies.hello.limit", "3/1h")
                        .systemProperty("ratelimit.policies.hello.key", "header:X-Client")
                        .systemProperty("ratelimit.policies.compute.limit", "1000000/1h")
                        .systemProperty("ratelimit.policies.compute.on-failure", "closed")
                        .systemProperty(TUNING + "failureRatio", "0.4")
                        .systemProperty(TUNING + "requestVolumeThreshold", Integer.toString(VOLUME))
                        .systemProperty(TUNING + "delay", Long.toString(DELAY.toMillis()))
                        .start()) {
            server = started;
            proxy = faultProxy;
            awaitConnection();
            staysClosedBelowTheRatio();
            opensAtTheRatio(1);
            decidesByFailureMode();
            closes();
            staysClosedBelowTheRatio();
            opensAtTheRatio(2);
        }
    }

    /**
     * Waits for successes that remove all earlier failures from the window of the breaker, until failures count, which they do not in the
     * first second after the first connection.
     */
    private void awaitConnection() {
        int[] consecutive = {0};
        long[] first = {0};
        Await.until("decisions of Redis", TIMEOUT, () -> {
            consecutive[0] = healthyCall().statusCode() == 200 ? consecutive[0] + 1 : 0;
            if (consecutive[0] == 1) {
                first[0] = System.nanoTime();
            }
            return consecutive[0] > VOLUME && System.nanoTime() - first[0] > UNCOUNTED.toNanos();
        });
        logOffset = server.log().length();
    }

    /** Verifies that three failures of ten calls do not open the breaker of the server, which receives each of them. */
    private void staysClosedBelowTheRatio() {
        int opened = count(OPENED);
        double failures = calls("failure");
        for (int call = 0; call < 2 * VOLUME; call++) {
            if (call % 4 == 0) {
                LimitResponse.verifyUnavailable(failingCall());
            } else {
                assertThat(healthyCall().statusCode()).isEqualTo(200);
            }
        }
        Await.until(
                "the breaker of the server has received them",
                TIMEOUT,
                PAUSE,
                () -> calls("failure") >= failures + 2 * VOLUME / 4);
        assertThat(count(OPENED)).isEqualTo(opened);
    }

    /** Fails every second call until the breakers are open. */
    private void opensAtTheRatio(int times) {
        double opened = opened();
        double rejections = calls("circuitBreakerOpen");
        int healthy = 0;
        while (healthyCall().statusCode() == 200) {
            assertThat(++healthy).as("calls before the breaker opens").isLessThan(VOLUME);
            assertThat(failingCall().statusCode()).isEqualTo(503);
        }
        Await.until("WEIR-416", TIMEOUT, () -> count(OPENED) == times);
        Await.until("the breaker of the server has opened", TIMEOUT, PAUSE, () -> opened() > opened);
        Await.until("it has rejected", TIMEOUT, PAUSE, () -> calls("circuitBreakerOpen") > rejections);
    }

    /** Verifies decisions without Redis, except for one probe per delay, which fails. */
    private void decidesByFailureMode() {
        proxy.failScripts(ERROR);
        long start = System.nanoTime();
        long scripts = proxy.scripts();
        for (int i = 0; i < REQUESTS; i++) {
            HttpResponse<String> allowed = hello("any client");
            assertThat(allowed.statusCode()).isEqualTo(200);
            LimitResponse.verifyNoQuota(allowed);
            HttpResponse<String> rejected = search();
            long seconds = LimitResponse.number(rejected, "Retry-After");
            assertThat(seconds).isBetween(1L, LONGEST_WAIT.toSeconds());
            LimitResponse.verifyUnavailable(rejected, seconds);
        }
        long delays = (System.nanoTime() - start) / DELAY.toNanos();
        assertThat(proxy.scripts() - scripts).as("probes").isLessThanOrEqualTo(1 + delays);
    }

    private void closes() {
        proxy.forward();
        Await.until("WEIR-418 and WEIR-302", TIMEOUT, PAUSE, () -> {
            search();
            return count(CLOSED) == 1 && count(RECOVERED) == 1;
        });
        Matcher recovered = RECOVERED.matcher(log());
        assertThat(recovered.find()).isTrue();
        assertThat(Integer.parseInt(recovered.group(1)))
                .as("decisions with the reason breaker-open")
                .isGreaterThanOrEqualTo(REQUESTS);
        for (int status : new int[] {200, 200, 200, 429}) {
            assertThat(hello("a client after the outage").statusCode()).isEqualTo(status);
        }
    }

    private HttpResponse<String> healthyCall() {
        proxy.forward();
        return search();
    }

    private HttpResponse<String> failingCall() {
        proxy.failScripts(ERROR);
        return search();
    }

    private HttpResponse<String> search() {
        return Http.get(server.baseUri().resolve("api/search"));
    }

    private HttpResponse<String> hello(String client) {
        return Http.get(server.baseUri().resolve("api/hello"), "X-Client", client);
    }

    private double opened() {
        return counters.sum("ft.circuitbreaker.opened.total", "method", METHOD);
    }

    private double calls(String result) {
        return counters.sum("ft.circuitbreaker.calls.total", "circuitBreakerResult", result);
    }

    private double scraped(String name, String tag, String value) {
        return Scrape.of(server).sum(name.replace('.', '_'), "method=\"" + METHOD + '"', tag + "=\"" + value + '"');
    }

    private String log() {
        return server.log().substring(logOffset);
    }

    private int count(Pattern pattern) {
        return (int) pattern.matcher(log()).results().count();
    }
}
