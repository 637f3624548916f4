// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client sees of a limit, on any server. Each test is a client of its own. */
abstract class HttpContract {
    private final String client = UUID.randomUUID().toString();

    /** The root of the application of the package {@code http}, with a slash at the end. */
    abstract URI base();

    // --- The body of a refusal

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
    void aRefusalHasTheFormThatTheClientTakes(String accept, String type, String start) {
        HttpResponse<String> refused = refused("api/answer/plain", "Accept", accept);
        assertThat(Refusal.field(refused, "Content-Type")
                        .toLowerCase(Locale.ROOT)
                        .replace(" ", ""))
                .isEqualTo(type.startsWith("text") ? type + ";charset=utf-8" : type);
        assertThat(refused.body()).startsWith(start).contains("Try again in " + seconds(refused) + " seconds.");
        assertThat(refused.headers().allValues("Vary")).anyMatch(vary -> vary.contains("Accept"));
        assertThat(Refusal.policy(refused)).isEqualTo("plain");
    }

    @Test
    void anAcceptHeaderThatNoHonestClientSendsSaysNothing() {
        HttpResponse<String> refused = refused("api/answer/plain", "Accept", "text/html, ".repeat(150) + "text/html");
        assertThat(Refusal.field(refused, "Content-Type")).isEqualTo("application/problem+json");
    }

    @Test
    void aPolicyWithAPageOfHelpLinksToIt() {
        assertThat(get("api/answer/helped").headers().allValues("Link")).isEmpty();
        HttpResponse<String> refused = get("api/answer/helped");
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(Refusal.field(refused, "Link")).isEqualTo("<https://example.com/limits#helped>; rel=\"help\"");
        assertThat(refused.body())
                .contains("\"violated-policies\":[\"plain\",\"helped\"]")
                .contains("\"help\":\"https://example.com/limits#helped\"");
    }

    @Test
    void aHierarchysRefusalNamesTheLevel() {
        get("api/answer/orgs");
        get("api/answer/orgs");
        HttpResponse<String> refused = get("api/answer/orgs");
        Refusal.verify(refused, "team");
        assertThat(Refusal.field(refused, "RateLimit-Policy"))
                .isEqualTo("\"org\";q=10;w=3600, \"team\";q=2;w=3600, \"user\";q=5;w=3600");
        assertThat(remaining("org")).isEqualTo(8);
    }

    @Test
    void theApplicationsResponderWritesTheBodyAndNothingElse() {
        HttpResponse<String> refused = refused("api/answer/plain", "Accept", "text/csv, */*;q=0.1");
        assertThat(Refusal.field(refused, "Content-Type")).startsWith("text/csv");
        assertThat(refused.body()).isEqualTo("AnswerResource.plain," + seconds(refused));
        assertThat(Refusal.field(refused, "Cache-Control")).contains("no-store");
        assertThat(Refusal.policy(refused)).isEqualTo("plain");
    }

    @Test
    void aResponderThatFailsLeavesTheBodyToWeir() {
        HttpResponse<String> refused = refused("api/answer/plain", "Accept", "application/yaml, application/json");
        assertThat(Refusal.field(refused, "Content-Type")).isEqualTo("application/json");
    }

    // --- Policies that tell clients nothing

    @ParameterizedTest
    @ValueSource(strings = {"secret", "secret-bean", "secret-code"})
    void aPolicyThatTellsNothingHidesAllQuotasOfItsRequests(String resource) {
        HttpResponse<String> admitted = get("api/answer/" + resource);
        assertThat(admitted.statusCode()).isEqualTo(200);
        if (!resource.equals("secret-code")) {
            Refusal.verifyNoQuota(admitted);
        }
        HttpResponse<String> refused = get("api/answer/" + resource);
        assertThat(refused.statusCode()).isEqualTo(429);
        Refusal.verifyNoQuota(refused);
        assertThat(seconds(refused)).isPositive();
        assertThat(refused.body())
                .contains("\"detail\":\"There were too many requests.\"")
                .doesNotContain("secret", "wide", "violated", "instance", "quota of");
    }

    // --- Resources that answer otherwise

    @ParameterizedTest
    @ValueSource(strings = {"stage", "suspended", "streamed"})
    void aResourceThatAnswersLaterIsChargedOnce(String resource) {
        HttpResponse<String> first = get("api/async/" + resource);
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(Refusal.remaining(first)).isEqualTo(1);
        assertThat(remaining("twice")).isEqualTo(1);
        assertThat(get("api/async/" + resource).statusCode()).isEqualTo(200);
        Refusal.verify(get("api/async/" + resource), "twice");
    }

    @Test
    void aStreamOfEventsIsChargedOnceAndRefusedAsText() {
        for (int left = 1; left >= 0; left--) {
            HttpResponse<String> events = get("api/async/events", "Accept", "text/event-stream");
            assertThat(events.statusCode()).isEqualTo(200);
            assertThat(events.body()).contains("data: one");
            assertThat(remaining("twice")).isEqualTo(left);
        }
        HttpResponse<String> refused = get("api/async/events", "Accept", "text/event-stream");
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(Refusal.field(refused, "Content-Type")).startsWith("text/plain");
        assertThat(seconds(refused)).isPositive();
    }

    @Test
    void aRefusalThatCodeThrowsLaterIsTheSameAnswer() {
        assertThat(get("api/async/stage-refused").body()).isEqualTo("admitted");
        Refusal.verify(get("api/async/stage-refused"), "plain");
    }

    /** Whose header fields are gone cannot be told anything, and is charged. */
    @Test
    void anAnswerThatIsCommittedByTheResourceIsChargedOnce() {
        HttpResponse<String> first = get("api/async/committed");
        assertThat(first.statusCode()).isEqualTo(200);
        assertThat(first.body()).isEqualTo("committed");
        assertThat(remaining("twice")).isEqualTo(1);
        get("api/async/committed");
        Refusal.verify(get("api/async/committed"), "twice");
    }

    @Test
    void anAnswerOfTheApplicationsMapperTellsTheQuota() {
        HttpResponse<String> mapped = get("api/answer/mapped");
        assertThat(mapped.statusCode()).isEqualTo(418);
        assertThat(mapped.body()).isEqualTo("short and stout");
        assertThat(Refusal.remaining(mapped)).isZero();
        Refusal.verify(get("api/answer/mapped"), "plain");
    }

    @Test
    void aResourceThatALocatorMakesIsChargedOnce() {
        HttpResponse<String> located = get("api/answer/located/here");
        assertThat(located.body()).isEqualTo("here");
        assertThat(Refusal.remaining(located)).isZero();
        Refusal.verify(get("api/answer/located/there"), "plain");
    }

    @Test
    void headIsAnsweredLikeGet() {
        HttpResponse<String> first = Http.head(uri("api/answer/plain"), "X-Client", client);
        assertThat(Refusal.field(first, "RateLimit-Policy")).isEqualTo("\"plain\";q=1;w=3600");
        HttpResponse<String> refused =
                Http.head(uri("api/answer/plain"), "X-Client", client, "Accept", "application/problem+json");
        Refusal.verify(refused, "plain");
        assertThat(refused.body()).isEmpty();
    }

    // --- Other origins

    @Test
    void aPreflightIsNeverCharged() {
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
        assertThat(remaining("plain")).as("an OPTIONS of another kind").isZero();
    }

    @Test
    void scriptsOfOtherOriginsMayReadTheFields() {
        HttpResponse<String> admitted = get("api/answer/plain", "Origin", "https://a.example");
        assertThat(exposed(admitted))
                .isEqualTo("X-Own, retry-after, RateLimit, RateLimit-Policy, X-RateLimit-Limit, "
                        + "X-RateLimit-Remaining, X-RateLimit-Reset");
        HttpResponse<String> refused = get("api/answer/plain", "Origin", "https://a.example");
        assertThat(refused.statusCode()).isEqualTo(429);
        assertThat(exposed(refused)).isEqualTo(exposed(admitted));
        assertThat(exposed(get("api/answer/plain", "Origin", "https://star.example")))
                .isEqualTo("*");
        assertThat(get("api/answer/plain").headers().map()).doesNotContainKey("access-control-expose-headers");
    }

    // --- Clients that mean harm

    @Test
    void anAddressThatAClientClaimsIsNotBelieved() {
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

    /** Most servers refuse so long a field; one that does not, must not believe it. */
    @Test
    void tenThousandHopsAreRefusedOrNotBelieved() {
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
    void aHugeFieldIsTheServersToRefuse() {
        assertThat(status(raw("plain", "X-Client: " + "x".repeat(1_000_000)))).matches("4\\d\\d|200|");
        assertThat(get("api/answer/plain").statusCode()).isEqualTo(200);
    }

    @Test
    void ofSeveralLinesTheFirstIsTheKey() {
        String lines = "X-Client: " + client + "\r\nX-Client: other-" + client;
        assertThat(status(raw("plain", lines))).isEqualTo("200");
        assertThat(status(raw("plain", lines))).isEqualTo("429");
        assertThat(remaining("plain")).isZero();
        assertThat(remaining("plain", "other-" + client)).isEqualTo(1);
    }

    /** The bytes of UTF-8, as a program sends them. Payara refuses them. */
    @Test
    void otherCharactersAreAKeyLikeAnyOtherOrRefused() {
        String bytes = new String((client + "äö€").getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        String first = status(raw("plain", "X-Client: " + bytes));
        assertThat(first).isIn("200", "400");
        assertThat(status(raw("plain", "X-Client: " + bytes))).isEqualTo(first.equals("200") ? "429" : "400");
    }

    /** What a server makes of a line break within a field is its own affair; it is never a failure, nor another's quota. */
    @ParameterizedTest
    @ValueSource(strings = {"\r", "\n", "\r\n ", "\0", "%0d%0aX-Evil: yes"})
    void aLineBreakInAKeyBreaksNothing(String breaking) {
        assertThat(status(raw("plain", "X-Client: a" + client + breaking + "X-Evil: yes")))
                .matches("200|4\\d\\d|");
        assertThat(remaining("plain")).isEqualTo(1);
        HttpResponse<String> response = get("api/answer/plain", "Accept", "text/html, %0d%0aX-Evil: yes");
        assertThat(response.headers().firstValue("X-Evil")).isEmpty();
    }

    // --- Clients that obey

    @ParameterizedTest
    @ValueSource(strings = {"fixed-window", "sliding-window", "sliding-log", "token-bucket", "leaky-bucket"})
    void aClientThatDoesAsItIsToldIsNeverRefusedTwiceInARow(String algorithm) throws Exception {
        ObedientClient obedient = new ObedientClient(() -> get("api/answer/" + algorithm));
        assertThat(obedient.afterARefusal().statusCode()).isEqualTo(200);
        assertThat(obedient.afterTheLastPermit().statusCode()).isEqualTo(200);
    }

    /** A program that reads what it is told and waits. On a slow machine its calls may be too rare for any limit. */
    private record ObedientClient(Supplier<HttpResponse<String>> call) {
        private static final int MOST_CALLS = 50;

        /** Calls until it is refused, and once more after the time it is told to wait. */
        HttpResponse<String> afterARefusal() throws InterruptedException {
            HttpResponse<String> last = call.get();
            for (int i = 0; i < MOST_CALLS && last.statusCode() != 429; i++) {
                last = call.get();
            }
            if (last.statusCode() == 429) {
                TimeUnit.SECONDS.sleep(Refusal.number(last, "Retry-After"));
                last = call.get();
            }
            return last;
        }

        /** Calls while it is told that a permit is left, and once more after the time until there is another. */
        HttpResponse<String> afterTheLastPermit() throws InterruptedException {
            HttpResponse<String> last = call.get();
            if (last.statusCode() == 429) {
                TimeUnit.SECONDS.sleep(Refusal.number(last, "Retry-After"));
                last = call.get();
            }
            for (int i = 0; i < MOST_CALLS && Refusal.remaining(last) > 0; i++) {
                assertThat(last.statusCode()).isEqualTo(200);
                last = call.get();
            }
            TimeUnit.SECONDS.sleep(Refusal.seconds(last));
            return call.get();
        }
    }

    // --- Helpers

    private HttpResponse<String> get(String path, String... headers) {
        String[] all = new String[headers.length + 2];
        all[0] = "X-Client";
        all[1] = client;
        System.arraycopy(headers, 0, all, 2, headers.length);
        return Http.get(uri(path), all);
    }

    /** The second of two, under a policy that admits one. */
    private HttpResponse<String> refused(String path, String... headers) {
        assertThat(get(path, headers).statusCode()).isEqualTo(200);
        HttpResponse<String> refused = get(path, headers);
        assertThat(refused.statusCode()).isEqualTo(429);
        return refused;
    }

    private URI uri(String path) {
        return base().resolve(path);
    }

    private static long seconds(HttpResponse<String> response) {
        return Refusal.number(response, "Retry-After");
    }

    private static String exposed(HttpResponse<String> response) {
        return Refusal.field(response, "Access-Control-Expose-Headers");
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

    /** The status of a first line, empty if there is none. */
    private static String status(String line) {
        return line.isEmpty() ? "" : line.substring("HTTP/1.1 ".length(), "HTTP/1.1 ".length() + 3);
    }
}
