// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.json.JsonObject;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A Prometheus that scrapes the example and evaluates the alert rules. */
@Tag("server")
@Tag("ci")
class PrometheusIT {
    /** Keeps the rate of the rejections below one per second, from which WeirRejectionSpike can fire. */
    private static final Duration INTERVAL = Duration.ofSeconds(2);

    private int allowed;
    private int rejected;
    private long lastCall;

    @Test
    void rejectionRateAlertNamesItsPolicy() {
        Tool tool = Tool.named("prometheus");
        try (Server server = LibertyServer.named("scraped-liberty")
                        .systemProperty("ratelimit.policies.hello.limit", "5/1h")
                        .start();
                Prometheus prometheus = Prometheus.start(tool, "prometheus", server)) {
            URI hello = server.baseUri().resolve("api/hello");
            call(hello, 6);
            JsonObject alert = await(prometheus, () -> {
                if (System.nanoTime() - lastCall > INTERVAL.toNanos()) {
                    call(hello, 1);
                }
                return firing(prometheus, "WeirRejectionRate");
            });
            assertThat(alert.getJsonObject("labels").getString("job")).isEqualTo("example");
            assertThat(alert.getJsonObject("labels").getString("policy")).isEqualTo("hello");
            assertThat(alert.getJsonObject("annotations").getString("summary"))
                    .matches("Policy hello of example rejects [\\d.]+% of its calls");
            assertThat(prometheus.value("weir:rejected:ratio_rate5m"))
                    .hasValueSatisfying(part -> assertThat(part).isBetween(0.5, 1.0));
            assertThat(prometheus.value("weir:near_limit:ratio_rate5m"))
                    .hasValueSatisfying(part -> assertThat(part).isBetween(0.5, 1.0));
            assertThat(prometheus.value("sum(weir:utilization_bucket:rate5m{le='1.0'})"
                            + " / sum(weir:utilization_bucket:rate5m{le='+Inf'})"))
                    .contains(1.0);
            assertThat(prometheus.alerts())
                    .extracting(other -> other.getJsonObject("labels").getString("alertname"))
                    .isSubsetOf("WeirRejectionRate", "WeirNearLimit");

            assertThat(prometheus.value("ratelimit_near_limit_minutes{policy=\"hello\"}"))
                    .hasValueSatisfying(minutes -> assertThat(minutes).isBetween(0.0, 2.0));
            assertThat(prometheus.value(
                            "sum by (endpoint) (ratelimit_decisions_total{endpoint=\"HelloResource.hello\"})"))
                    .isPresent();
            counts(prometheus, "rejected", rejected);
            counts(prometheus, "allowed", allowed);
        }
    }

    private void call(URI uri, int calls) {
        lastCall = System.nanoTime();
        for (int status : Http.statuses(calls, uri)) {
            if (status == 200) {
                allowed++;
            } else {
                assertThat(status).isEqualTo(429);
                rejected++;
            }
        }
    }

    private static Optional<JsonObject> firing(Prometheus prometheus, String name) {
        return prometheus.alerts().stream()
                .filter(alert ->
                        alert.getJsonObject("labels").getString("alertname").equals(name))
                .filter(alert -> alert.getString("state").equals("firing"))
                .findFirst();
    }

    private static void counts(Prometheus prometheus, String outcome, double expected) {
        String counter = "ratelimit_decisions_total{policy=\"hello\",outcome=\"" + outcome + "\"}";
        await(prometheus, () -> prometheus.value(counter).filter(count -> count == expected));
    }

    private static <T> T await(Prometheus prometheus, Supplier<Optional<T>> query) {
        long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (System.nanoTime() < end) {
            Optional<T> result = query.get();
            if (result.isPresent()) {
                return result.get();
            }
            LockSupport.parkNanos(100_000_000);
        }
        throw new AssertionError(
                "Not within a minute; the alerts are " + prometheus.alerts() + "\n" + prometheus.tail());
    }
}
