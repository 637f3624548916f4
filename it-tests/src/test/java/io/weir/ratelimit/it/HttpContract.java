// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The HTTP contract: the responses of limited resources on any server. Each test is a different client. */
abstract class HttpContract {
    private String client = "";

    /** A runner can use one instance for all tests. */
    @BeforeEach
    void changeClient() {
        client = UUID.randomUUID().toString();
    }

    /** Returns the root of the application of the package {@code http}, with a slash at the end. */
    abstract URI base();

    // --- The body of a rejection

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "application/problem+json                                        | application/problem+json | {",
                "application/json                                                | application/json         | {",
                "*/*                                                             | application/problem+json | {",
                "text/plain                                                      | text/plain               | The quota",
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8 | text/html                | <!DOCTYPE",
                "text/html;q=0.5, application/json;q=0.9                         | application/json         | {",
                "image/png                                                       | text/plain               | The quota",
            })
    void rejectionHasAnAcceptedMediaType(String accept, String type, String start) {
        HttpResponse<String> rejected = rejected("api/answer/plain", "Accept", accept);
        assertThat(LimitResponse.field(rejected, "Content-Type")
                        .toLowerCase(Locale.ROOT)
                        .replace(" ", ""))
                .isEqualTo(type.startsWith("text") ? type + ";charset=utf-8" : type);
        assertThat(rejected.body())
                .startsWith(start)
                .contains("Try again in " + LimitResponse.inWords(seconds(rejected)) + ".");
        assertThat(rejected.headers().allValues("Vary")).anyMatch(vary -> vary.contains("Accept"));
        assertThat(LimitResponse.policy(rejected)).isEqualTo("plain");
    }

    @Test
    void oversizedAcceptHeaderIsIgnored() {
        HttpResponse<String> rejected = rejected("api/answer/plain", "Accept", "text/html, ".repeat(150) + "text/html");
        assertThat(LimitResponse.field(rejected, "Content-Type")).isEqualTo("application/problem+json");
    }

    @Test
    void rejectionLinksToTheHelpPage() {
        assertThat(get("api/answer/helped").headers().allValues("Link")).isEmpty();
        HttpResponse<String> rejected = get("api/answer/helped");
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(LimitResponse.field(rejected, "Link"))
                .isEqualTo("<https://example.com/limits#helped>; rel=\"help\"");
        assertThat(rejected.body())
                .contains("\"violated-policies\":[\"plain\",\"helped\"]")
                .contains("\"help\":\"https://example.com/limits#helped\"");
    }

    @Test
    void rejectionOfAHierarchyReportsTheLevel() {
        get("api/answer/orgs");
        get("api/answer/orgs");
        HttpResponse<String> rejected = get("api/answer/orgs");
        LimitResponse.verifyRejected(rejected, "team");
        assertThat(LimitResponse.field(rejected, "RateLimit-Policy"))
                .isEqualTo("\"org\";q=10;w=3600, \"team\";q=2;w=3600, \"user\";q=5;w=3600");
        assertThat(remaining("org")).isEqualTo(8);
    }

    @Test
    void responderWritesTheBodyOnly() {
        HttpResponse<String> rejected = rejected("api/answer/plain", "Accept", "text/csv, */*;q=0.1");
        assertThat(LimitResponse.field(rejected, "Content-Type")).startsWith("text/csv");
        assertThat(rejected.body()).isEqualTo("AnswerResource.plain," + seconds(rejected));
        assertThat(LimitResponse.field(rejected, "Cache-Control")).contains("no-store");
        assertThat(LimitResponse.policy(rejected)).isEqualTo("plain");
    }

    @Test
    void failedResponderHasTheDefaultBody() {
        HttpResponse<String> rejected = rejected("api/answer/plain", "Accept", "application/yaml, application/json");
        assertThat(LimitResponse.field(rejected, "Content-Type")).isEqualTo("application/json");
    }

    // --- Minimal disclosure

    @ParameterizedTest
    @ValueSource(strings = {"secret", "secret-bean", "secret-code"})
    void minimalDisclosureHidesAllQuotas(String resource) {
        HttpResponse<String> allowed = get("api/answer/" + resource);
        assertThat(allowed.statusCode()).isEqualTo(200);
        if (!resource.equals("secret-code")) {
            LimitResponse.verifyNoQuota(allowed);
        }
        HttpResponse<String> rejected = get("api/answer/" + resource);
        assertThat(rejected.statusCode()).isEqualTo(429);
        LimitResponse.verifyNoQuota(rejected);
        assertThat(seconds(rejected)).isPositive();
        assertThat(rejected.body())
                .contains("\"detail\":\"There were too many requests.\"")
                .doesNotContain("secret", "wide", "violated", "instance", "quota of");
    }

    // --- Asynchronous and other responses

    @ParameterizedTest
    @ValueSource(strings = {"stage", "suspended", "streamed"})
    void asynchronousResponseIsChargedOnce(String resource) {
        HttpResponse<String> first = get("api/async/" + resource);
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(LimitResponse.remaining(first)).isEqualTo(1);
        assertThat(remaining("twice")).isEqualTo(1);
        assertThat(get("api/async/" + resource).statusCode()).isEqualTo(200);
        LimitResponse.verifyRejected(get("api/async/" + resource), "twice");
    }

    @Test
    void eventStreamIsChargedOnceAndRejectedAsText() {
        for (int left = 1; left >= 0; left--) {
            HttpResponse<String> events = get("api/async/events", "Accept", "text/event-stream");
            assertThat(events.statusCode()).isEqualTo(200);
            assertThat(events.body()).containsPattern("data: ?one");
            assertThat(remaining("twice")).isEqualTo(left);
        }
        HttpResponse<String> rejected = get("api/async/events", "Accept", "text/event-stream");
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(LimitResponse.field(rejected, "Content-Type")).startsWith("text/plain");
        assertThat(seconds(rejected)).isPositive();
    }

    @Test
    void rejectionByAsynchronousCodeHasTheSameResponse() {
        assertThat(get("api/async/stage-rejected").body()).isEqualTo("allowed");
        LimitResponse.verifyRejected(get("api/async/stage-rejected"), "plain");
    }

    @Tag("field")
    @ParameterizedTest
    @ValueSource(strings = {"join", "get"})
    void wrappedRejectionHasTheSameResponse(String how) {
        assertThat(get("api/async/waits/" + how).body()).isEqualTo("allowed");
        LimitResponse.verifyRejected(get("api/async/waits/" + how), "plain");
    }

    @Tag("field")
    @Test
    void noFieldIsSetOnACommittedResponse() {
        assertThat(get("api/committed").body()).isEqualTo("committed");
        assertThat(get("api/committed/late-fields").body()).isEmpty();
    }

    /** The header fields are already sent, so the response has no quota, but it is charged. */
    @Test
    void committedResponseIsChargedOnce() {
        HttpResponse<String> first = get("api/committed");
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.body()).isEqualTo("committed");
        assertThat(remaining("twice")).isEqualTo(1);
        get("api/committed");
        LimitResponse.verifyRejected(get("api/committed"), "twice");
    }

    @Test
    void responseOfAnExceptionMapperHasTheQuota() {
        HttpResponse<String> mapped = get("api/answer/mapped");
        assertThat(mapped.statusCode()).isEqualTo(418);
        assertThat(mapped.body()).isEqualTo("short and stout");
        assertThat(LimitResponse.remaining(mapped)).isZero();
        LimitResponse.verifyRejected(get("api/answer/mapped"), "plain");
    }

    @Test
    void resourceOfALocatorIsChargedOnce() {
        HttpResponse<String> located = get("api/answer/located/here");
        assertThat(located.body()).isEqualTo("here");
        assertThat(LimitResponse.remaining(located)).isZero();
        LimitResponse.verifyRejected(get("api/answer/located/there"), "plain");
    }

    @Test
    void headHasTheSameHeadersAsGet() {
        HttpResponse<String> first = Http.head(uri("api/answer/plain"), "X-Client", client);
        assertThat(LimitResponse.field(first, "RateLimit-Policy")).isEqualTo("\"plain\";q=1;w=3600");
        HttpResponse<String> rejected =
                Http.head(uri("api/answer/plain"), "X-Client", client, "Accept", "application/problem+json");
        LimitResponse.verifyRejected(rejected, "plain");
        assertThat(rejected.body()).isEmpty();
    }

    // --- Other origins

    @Test
    void preflightRequestIsNotCharged() {
        for (int i = 0; i < 3; i++) {
            assertThat(Http.options(
                                    uri("api/answer/preflight"),
                                    "X-Client",
                                    client,
                                    "Origin",
                                    "https://a.example",
                                    "Access-Control-Request-Method",
                                    "GET")
                            .statusCode())
                    .isEqualTo(204);
        }
        assertThat(remaining("plain")).isEqualTo(1);
        Http.options(uri("api/answer/preflight"), "X-Client", client);
        assertThat(remaining("plain"))
                .as("an OPTIONS request that is not a preflight request")
                .isZero();
    }

    @Test
    @Tag("field")
    void quotaHeadersAreExposedToOtherOrigins() {
        HttpResponse<String> allowed = get("api/answer/plain", "Origin", "https://a.example");
        assertThat(exposed(allowed))
                .isEqualTo("X-Own, retry-after, RateLimit, RateLimit-Policy, X-RateLimit-Limit, "
                        + "X-RateLimit-Remaining, X-RateLimit-Reset");
        HttpResponse<String> rejected = get("api/answer/plain", "Origin", "https://a.example");
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(exposed(rejected)).isEqualTo(exposed(allowed));
        assertThat(exposed(get("api/answer/plain", "Origin", "https://star.example")))
                .isEqualTo("*");
        assertThat(get("api/answer/plain").headers().map()).doesNotContainKey("access-control-expose-headers");
    }

    // --- Malicious clients

    @Test
    void forwardedAddressOfAnUntrustedClientIsIgnored() {
        for (int i = 0; i < 2; i++) {
            assertThat(Http.get(
                                    uri("api/answer/by-ip"),
                                    "X-Forwarded-For",
                                    "203.0.113." + i,
                                    "Forwarded",
                                    "for=203.0.113." + i,
                                    "X-Real-IP",
                                    "203.0.113." + i)
                            .statusCode())
                    .isEqualTo(200);
        }
        assertThat(Http.get(uri("api/answer/by-ip"), "X-Forwarded-For", "203.0.113.9")
                        .statusCode())
                .isEqualTo(429);
    }

    /** Most servers reject such a long header. Otherwise its addresses must be ignored. */
    @Test
    void thousandsOfForwardedAddressesAreIgnored() {
        String hops = "198.51.100.7, ".repeat(9_999) + "198.51.100.8";
        assertThat(status(raw("by-ip-of-hops", "X-Forwarded-For: " + hops))).matches("200|4\\d\\d|");
        String fewer = "198.51.100.7, ".repeat(300) + "198.51.100.8";
        for (int i = 0; i < 2; i++) {
            raw("by-ip-of-hops", "X-Forwarded-For: " + fewer + i);
        }
        assertThat(status(raw("by-ip-of-hops", "X-Forwarded-For: " + fewer + "9")))
                .isEqualTo("429");
    }

    @Test
    void oversizedHeaderDoesNotBreakTheServer() {
        assertThat(status(raw("plain", "X-Client: " + "x".repeat(1_000_000)))).matches("4\\d\\d|200|");
        assertThat(get("api/answer/plain").statusCode()).isEqualTo(200);
    }

    @Test
    void firstHeaderLineIsTheKey() {
        String lines = "X-Client: " + client + "\r\nX-Client: other-" + client;
        assertThat(status(raw("plain", lines))).isEqualTo("200");
        assertThat(status(raw("plain", lines))).isEqualTo("429");
        assertThat(remaining("plain")).isZero();
        assertThat(remaining("plain", "other-" + client)).isEqualTo(1);
    }

    /** Payara rejects the bytes of UTF-8 characters. */
    @Test
    void nonAsciiHeaderIsAKeyOrAClientError() {
        String bytes = new String((client + "äö€").getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        String first = status(raw("plain", "X-Client: " + bytes));
        assertThat(first).isIn("200", "400");
        assertThat(status(raw("plain", "X-Client: " + bytes))).isEqualTo(first.equals("200") ? "429" : "400");
    }

    /** The effect of a line break depends on the server. It must not cause a failure or affect another client. */
    @ParameterizedTest
    @ValueSource(strings = {"\r", "\n", "\r\n ", "\0", "%0d%0aX-Evil: yes"})
    void lineBreakInAKeyIsHandled(String breaking) {
        assertThat(status(raw("plain", "X-Client: a" + client + breaking + "X-Evil: yes")))
                .matches("200|4\\d\\d|");
        assertThat(remaining("plain")).isEqualTo(1);
        HttpResponse<String> response = get("api/answer/plain", "Accept", "text/html, %0d%0aX-Evil: yes");
        assertThat(response.headers().firstValue("X-Evil")).isEmpty();
    }

    // --- Clients that obey

    /** The clients of all algorithms wait at the same time. */
    @Test
    void clientThatObeysIsNeverRejectedTwiceInARow() {
        Stream.of("fixed-window", "sliding-window", "sliding-log", "token-bucket", "leaky-bucket")
                .map(algorithm -> CompletableFuture.runAsync(
                        () -> verifyObedientClient(algorithm), task -> new Thread(task, algorithm).start()))
                .toList()
                .forEach(CompletableFuture::join);
    }

    private void verifyObedientClient(String algorithm) {
        ObedientClient obedient = new ObedientClient(() -> get("api/answer/" + algorithm));
        assertThat(obedient.afterARejection().statusCode()).as(algorithm).isEqualTo(200);
        assertThat(obedient.afterTheLastPermit().statusCode()).as(algorithm).isEqualTo(200);
    }

    /** A client that waits as the headers require. On a slow machine it needs many calls until some are within one window. */
    private record ObedientClient(Supplier<HttpResponse<String>> call) {
        private static final int MAX_CALLS = 500;

        /** Sends requests until one is rejected, and another one after Retry-After. */
        HttpResponse<String> afterARejection() {
            HttpResponse<String> last = call.get();
            for (int i = 0; i < MAX_CALLS && last.statusCode() != 429; i++) {
                last = call.get();
            }
            assertThat(last.statusCode()).isEqualTo(429);
            pause(LimitResponse.number(last, "Retry-After"));
            return call.get();
        }

        /** Sends requests while permits remain, and another one after the next permit has returned. */
        HttpResponse<String> afterTheLastPermit() {
            HttpResponse<String> last = call.get();
            if (last.statusCode() == 429) {
                pause(LimitResponse.number(last, "Retry-After"));
                last = call.get();
            }
            for (int i = 0; i < MAX_CALLS && LimitResponse.remaining(last) > 0; i++) {
                assertThat(last.statusCode()).isEqualTo(200);
                last = call.get();
            }
            assertThat(LimitResponse.remaining(last)).isZero();
            pause(LimitResponse.seconds(last));
            return call.get();
        }

        private static void pause(long seconds) {
            try {
                TimeUnit.SECONDS.sleep(seconds);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    // --- Helpers

    HttpResponse<String> get(String path, String... headers) {
        String[] all = new String[headers.length + 2];
        all[0] = "X-Client";
        all[1] = client;
        System.arraycopy(headers, 0, all, 2, headers.length);
        return Http.get(uri(path), all);
    }

    /** Returns the second response under a policy that allows one call. */
    private HttpResponse<String> rejected(String path, String... headers) {
        assertThat(get(path).statusCode()).isEqualTo(200);
        HttpResponse<String> rejected = get(path, headers);
        assertThat(rejected.statusCode()).isEqualTo(429);
        return rejected;
    }

    private URI uri(String path) {
        return base().resolve(path);
    }

    private static long seconds(HttpResponse<String> response) {
        return LimitResponse.number(response, "Retry-After");
    }

    private static String exposed(HttpResponse<String> response) {
        return LimitResponse.field(response, "Access-Control-Expose-Headers");
    }

    private long remaining(String policy) {
        return remaining(policy, client);
    }

    private long remaining(String policy, String of) {
        return Long.parseLong(Http.get(uri("api/answer/remaining?policy=" + policy + "&client=" + of))
                .body());
    }

    private String raw(String resource, String lines) {
        return Http.raw(
                base(),
                "GET " + uri("api/answer/" + resource).getPath() + " HTTP/1.1\r\nHost: localhost\r\n" + lines
                        + "\r\nConnection: close\r\n\r\n");
    }

    /** Returns the status of a status line; empty if there is none. */
    private static String status(String line) {
        return line.isEmpty() ? "" : line.substring("HTTP/1.1 ".length(), "HTTP/1.1 ".length() + 3);
    }
}
