// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.BusyProcessors;
import io.weir.ratelimit.fixtures.RedisProcess;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A client over its limit sends requests over 200 connections without a pause, while other processes use all processors. Deadline,
 * breaker and failure mode are the default ones. The client gains nothing by missed deadlines and an open breaker.
 */
@Tag("server")
@Tag("ci")
class ExhaustedKeyIT {
    private static final int CONNECTIONS = 200;

    /** More than the connections can send. */
    private static final int WITHOUT_PAUSE = 1_000_000;

    private static final Duration LOAD = Duration.ofSeconds(20);
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    /** The least time until the end of the rejection when the load begins: enough for all requests of the load. */
    private static final long MIN_RETRY_AFTER = 55;

    @Test
    void anExhaustedKeyStaysRejectedWhileProcessorsAreSaturated() {
        try (RedisProcess redis = RedisProcess.started();
                Server server = LibertyServer.named("exhausted")
                        .systemProperty("ratelimit.redis.address", redis.address())
                        .systemProperty("ratelimit.policies.hello.limit", "5/1m")
                        .systemProperty("ratelimit.policies.hello.key", "header:X-Client")
                        .start()) {
            AtomicReference<HttpResponse<String>> last = new AtomicReference<>();
            Await.until("a rejection for long", TIMEOUT, Duration.ofMillis(50), () -> {
                last.set(Http.get(server.baseUri().resolve("api/hello"), "X-Client", "client-0"));
                return last.get().statusCode() == 429
                        && LimitResponse.number(last.get(), "Retry-After") >= MIN_RETRY_AFTER;
            });
            Scrape before = Scrape.of(server);
            LoadReport report;
            try (BusyProcessors busy = BusyProcessors.started();
                    Load load = Load.on(server.baseUri(), WITHOUT_PAUSE, CONNECTIONS, 1, "api/hello")) {
                long end = System.nanoTime() + LOAD.toNanos();
                for (long left = LOAD.toNanos(); left > 0; left = end - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                report = new LoadReport(load.end());
            }
            Scrape after = Scrape.of(server);
            double undecided = decisions(after, "degraded_allowed") - decisions(before, "degraded_allowed");
            double failed = errors(after) - errors(before);
            System.out.println(report.text("Exhausted key, 200 connections, saturated processors: undecided "
                    + undecided + ", failed calls of the backend " + failed));
            assertThat(undecided).isZero();
            assertThat(report.othersThan(0, 429)).isZero();
        }
    }

    private static double decisions(Scrape scrape, String outcome) {
        return scrape.sum("ratelimit_decisions_total", "policy=\"hello\"", "outcome=\"" + outcome + "\"");
    }

    private static double errors(Scrape scrape) {
        return scrape.sum("ratelimit_backend_errors_total");
    }
}
