// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static io.weir.ratelimit.test.QuotaBuilder.quota;
import static io.weir.ratelimit.test.WeirAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpServer;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import jakarta.ws.rs.core.Response;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class WeirAssertionsTest {
    private static final Duration TEN = Duration.ofSeconds(10);

    private static void assertFails(ThrowingCallable assertion, String... parts) {
        assertThatExceptionOfType(AssertionError.class).isThrownBy(assertion).withMessageContainingAll(parts);
    }

    @Test
    void verifiesDecisions() {
        Decision allowed =
                Decisions.allowed(quota("hello").limit(5, TEN).remaining(3).build());
        assertThat(allowed).isAllowed().hasQuota("hello", 3).isAllowedAfter(Duration.ZERO);
        assertFails(() -> assertThat(allowed).isRejected(), "rejected", "Allowed");
        assertFails(() -> assertThat(allowed).hasQuota("hello", 4), "4", "hello", "3");
        assertFails(() -> assertThat(allowed).isAllowedAfter(TEN), "PT10S", "PT0S");
        Decision rejected = Decisions.rejectedBy("hello", TEN);
        assertThat(rejected).isRejectedBy("hello").retryAfter(TEN);
        assertFails(() -> assertThat(rejected).isAllowed(), "allowed", "Rejected");
        assertFails(() -> assertThat(rejected).isRejectedBy("mail"), "[mail]", "[hello]");
        assertFails(() -> assertThat(rejected).retryAfter(Duration.ZERO), "PT0S", "PT10S");
        assertFails(() -> assertThat(rejected).neverAllowsRetry(), "PT10S");
        Decision degraded = Decisions.degradedClosed("timeout", TEN);
        assertThat(degraded).isDegraded(FailureMode.CLOSED).hasReason("timeout").retryAfter(TEN);
        assertFails(() -> assertThat(degraded).isDegraded(FailureMode.OPEN), "OPEN");
        assertFails(() -> assertThat(degraded).hasReason("full"), "full", "timeout");
        assertFails(() -> assertThat(degraded).isRejected(), "rejected");
    }

    @Test
    void verifiesResponsesOfTheClientOfTheJdk() throws Exception {
        Map<String, String> fields = Map.of(
                "RateLimit", "\"hello-10s\";r=0;t=12, \"day\";r=7",
                "RateLimit-Policy", "\"hello-10s\";q=5;w=10;qu=\"content-bytes\", \"day\";q=100;w=86400",
                "Retry-After", "12");
        HttpResponse<Void> response = respond(429, fields);
        assertThat(response)
                .isRejectedBy("hello")
                .retryAfter(Duration.ofMillis(11_001))
                .hasQuota("hello-10s", 0)
                .hasQuota("day", 7)
                .hasLimit("hello-10s", 5, TEN)
                .hasLimit("day", 100, Duration.ofDays(1));
        assertFails(() -> assertThat(response).isAllowed(), "429");
        assertFails(() -> assertThat(response).isRejectedBy("mail"), "mail", "hello-10s");
        assertFails(() -> assertThat(response).isRejectedBy("hell"), "hell", "hello-10s");
        for (String window : List.of("500ms", "10s", "1m", "2h", "7d", "month", "year", "concurrent")) {
            assertThat(respond(429, Map.of("RateLimit", "\"hello-" + window + "\";r=0;t=5")))
                    .isRejectedBy("hello");
        }
        for (String other : List.of("hello-login", "hello-10", "hello-1m-10s")) {
            HttpResponse<Void> byOther = respond(429, Map.of("RateLimit", "\"" + other + "\";r=0;t=5"));
            assertFails(() -> assertThat(byOther).isRejectedBy("hello"), "hello", other);
        }
        assertFails(() -> assertThat(response).retryAfter(Duration.ofMillis(12_001)), "13", "12");
        assertFails(() -> assertThat(response).hasQuota("day", 8), "r=8", "r=7");
        assertFails(() -> assertThat(response).hasQuota("night", 7), "night");
        assertFails(() -> assertThat(response).hasLimit("day", 100, TEN), "w=10", "w=86400");
        assertFails(() -> assertThat(response).hasNoQuota(), "RateLimit");
        assertThat(respond(503, Map.of("Retry-After", "1"))).isUnavailable().hasNoQuota();
        assertThat(respond(200, Map.of())).isAllowed().hasStatus(200);
    }

    private static HttpResponse<Void> respond(int status, Map<String, String> fields) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            fields.forEach((name, value) -> exchange.getResponseHeaders().add(name, value));
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
        try {
            URI address = URI.create("http://localhost:" + server.getAddress().getPort());
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.discarding());
        } finally {
            server.stop(0);
        }
    }

    @Test
    void verifiesResponsesOfAJakartaRestClient() {
        Response response = Response.status(429)
                .header("RateLimit", "\"hello\";r=0;t=12")
                .header("RateLimit-Policy", "\"hello\";q=5;w=10")
                .header("Retry-After", 12)
                .build();
        assertThat(response)
                .isRejectedBy("hello")
                .hasQuota("hello", 0)
                .hasLimit("hello", 5, TEN)
                .retryAfter(Duration.ofSeconds(12));
        assertFails(() -> assertThat(response).hasQuota("hello", 1), "r=1");
        assertThat(Response.ok().build()).isAllowed().hasNoQuota();
    }

    @Test
    void parsesFieldsWithEscapesAndIgnoresOtherText() {
        assertThat(QuotaField.parse("\"a\\\"b\";r=3;flag, nonsense; , \"c\";r=\"x;y\";t=4"))
                .containsExactly(
                        new QuotaField("a\"b", Map.of("r", "3", "flag", "?1")),
                        new QuotaField("c", Map.of("r", "\"x;y\"", "t", "4")));
        assertThat(new QuotaField("c", Map.of("r", "99999999999999999999")).number("r"))
                .isEqualTo(Optional.empty());
        assertThat(QuotaField.parse("")).isEmpty();
    }
}
