// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static io.weir.ratelimit.interceptor.rest.Quotas.NOW_MICROS;
import static io.weir.ratelimit.interceptor.rest.Quotas.NOW_SECONDS;
import static io.weir.ratelimit.interceptor.rest.Quotas.allowed;
import static io.weir.ratelimit.interceptor.rest.Quotas.rejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.engine.CallEnds;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.Policy.Disclosure;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.response.QuotaView;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.ws.rs.core.CacheControl;
import jakarta.ws.rs.core.MultivaluedHashMap;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.Response;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class RejectionResponsesTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static Response exceeded(List<String> dialects, Quota... quotas) {
        Decision.Rejected decision = new Decision.Rejected(Results.of(quotas));
        Response response =
                rejections().exceeded(decision, new RejectionResponses.Context("", false, AcceptHeader.ANYTHING));
        new QuotaFields(QuotaView.Dialect.named(dialects))
                .write(QuotaView.rejected(decision, NOW_MICROS), response.getHeaders());
        return response;
    }

    /** Creates responses for four policies. The policy {@code secret} has minimal disclosure, and three policies have a help page. */
    private static RejectionResponses rejections(RejectionResponder... responders) {
        Map<String, Policy> policies = Map.of(
                "api", policy("api", Disclosure.FULL, null),
                "org", policy("org", Disclosure.FULL, "/limits#org"),
                "user", policy("user", Disclosure.FULL, "/limits#user"),
                "secret", policy("secret", Disclosure.MINIMAL, "/limits#secret"));
        return new RejectionResponses(
                name -> Optional.ofNullable(policies.get(name)),
                Stream.of(responders).findFirst());
    }

    private static Policy policy(String name, Disclosure disclosure, @Nullable String help) {
        return Policy.builder(
                        new PolicyLimits(name, List.of(Limit.of(Algorithm.FIXED_WINDOW, 1, MINUTE))),
                        KeyExpression.parse("ip", new KeyTerms(32, 64)))
                .maxWaiting(1)
                .disclosure(disclosure)
                .help(Optional.ofNullable(help))
                .build();
    }

    private static Response response(boolean minimal, String accept, Quota... quotas) {
        return rejections()
                .exceeded(
                        new Decision.Rejected(Results.of(quotas)),
                        new RejectionResponses.Context("", minimal, AcceptHeader.parse(List.of(accept))));
    }

    private static String body(Response response) {
        return new String((byte[]) response.getEntity(), StandardCharsets.UTF_8);
    }

    private static Map<String, String> fields(Response response) {
        Map<String, String> fields = new TreeMap<>();
        response.getStringHeaders().forEach((name, values) -> fields.put(name, String.join(" | ", values)));
        return fields;
    }

    @Test
    void anExhaustedQuotaIsA429WithAProblem() {
        Response response = exceeded(List.of("draft-11"), rejected("api", 100, MINUTE, 16_000_001, 20_000_000));
        assertThat(response.getStatus()).isEqualTo(429);
        assertThat(response.getStatusInfo().getReasonPhrase()).isEqualTo("Too Many Requests");
        assertThat(fields(response))
                .isEqualTo(Map.of(
                        "Content-Type", "application/problem+json",
                        "Cache-Control", "no-store",
                        "Retry-After", "17",
                        "Vary", "Accept",
                        "RateLimit-Policy", "\"api\";q=100;w=60",
                        "RateLimit", "\"api\";r=0;t=17"));
        assertThat(body(response))
                .isEqualTo("{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                        + "\"title\":\"Too Many Requests\",\"status\":429,"
                        + "\"detail\":\"The quota of the policy api is used up.\","
                        + "\"violated-policies\":[\"api\"],\"error\":\"rate_limit_exceeded\",\"retry_after\":17,"
                        + "\"message\":\"The quota of the policy api is used up. Try again in 17 seconds.\"}");
    }

    @Test
    void aBlockedKeyIsA429ForAbnormalUsage() {
        Quota blocked = TestQuota.of(
                "api", "api", 100, 100, MINUTE, 0, true, 900_000_000, 900_000_000, 900_000_000, null, 900_000_000);
        Response response = exceeded(List.of("draft-11"), blocked);
        assertThat(response.getStatus()).isEqualTo(429);
        assertThat(fields(response))
                .containsEntry("Retry-After", "900")
                .containsEntry("RateLimit", "\"api\";r=0;t=900");
        assertThat(body(response))
                .isEqualTo("{\"type\":\"https://iana.org/assignments/http-problem-types#abnormal-usage-detected\","
                        + "\"title\":\"Too Many Requests\",\"status\":429,"
                        + "\"detail\":\"The caller is blocked under the policy api.\","
                        + "\"violated-policies\":[\"api\"],\"error\":\"rate_limit_blocked\",\"retry_after\":900,"
                        + "\"message\":\"The caller is blocked under the policy api. Try again in 15 minutes.\"}");
        assertThat(body(response(true, "application/json", blocked)))
                .contains("abnormal-usage-detected", "There were too many requests.")
                .doesNotContain("api\"");
    }

    @Test
    void listsViolatedPoliciesInOrderWithTheLongestWait() {
        Response response = exceeded(
                List.of("draft-11", "draft-06", "legacy"),
                rejected("api-1s", 10, Duration.ofSeconds(1), 500_000, 1_000_000),
                allowed("org", 1000, MINUTE, 10, 1, 1),
                rejected("api-1h", 1000, Duration.ofHours(1), 90_000_000, 100_000_000),
                rejected("user", 5, MINUTE, 3_000_000, 4_000_000));
        assertThat(fields(response))
                .containsEntry("Retry-After", "90")
                .containsEntry("RateLimit", "\"api-1h\";r=0;t=90")
                .containsEntry(
                        "RateLimit-Policy",
                        "\"api-1s\";q=10;w=1, \"org\";q=1000;w=60, \"api-1h\";q=1000;w=3600, \"user\";q=5;w=60")
                .containsEntry("RateLimit-Limit", "1000")
                .containsEntry("RateLimit-Reset", "100")
                .containsEntry("X-RateLimit-Reset", String.valueOf(NOW_SECONDS + 100));
        assertThat(body(response))
                .contains("\"detail\":\"The quota of the policy api is used up.\"")
                .contains("\"violated-policies\":[\"api-1s\",\"api-1h\",\"user\"]");
    }

    /** A client finds each violated limit in the field with the quotas. */
    @Tag("field")
    @Test
    void violatedPoliciesHaveTheNamesOfTheHeaderField() {
        Response response = exceeded(
                List.of("draft-11"),
                rejected("api-1s", 1, Duration.ofSeconds(1), 500_000, 1_000_000),
                allowed("api-1h", 100, Duration.ofHours(1), 98, 1, 1));
        assertThat(fields(response))
                .containsEntry("RateLimit-Policy", "\"api-1s\";q=1;w=1, \"api-1h\";q=100;w=3600")
                .containsEntry("RateLimit", "\"api-1s\";r=0;t=1");
        assertThat(body(response))
                .contains("\"detail\":\"The quota of the policy api is used up.\"")
                .contains("\"violated-policies\":[\"api-1s\"]");
    }

    @Tag("field")
    @Test
    void aRejectionBySlotsDoesNotStateAUsedQuota() {
        Quota full = rejected("slow", 2, Duration.ZERO, 300_000, 60_000_000);
        Response response = exceeded(List.of("draft-11", "legacy", "draft-06"), full);
        assertThat(fields(response))
                .containsEntry("Retry-After", "1")
                .containsEntry("RateLimit", "\"slow\";r=0;t=1")
                .containsEntry("RateLimit-Reset", "1")
                .containsEntry("X-RateLimit-Reset", String.valueOf(NOW_SECONDS + 1));
        assertThat(body(response))
                .contains("\"detail\":\"Too many calls of the caller run at once under the policy slow.\"")
                .contains("Too many calls of the caller run at once under the policy slow. Try again in 1 second.");
        Quota used = rejected("slow", 9, Duration.ofMinutes(1), 5_000_000, 5_000_000);
        assertThat(body(exceeded(List.of(), full, used)))
                .as("a window rejected too")
                .contains("\"detail\":\"The quota of the policy slow is used up.\"");
    }

    @Test
    void aBodyOfTheApplicationHasTheCharsetOfItsType() {
        Response response = rejections(rejection ->
                        Optional.of(new RejectionResponder.Body("text/plain;charset=ISO-8859-1", "sp\u00e4ter")))
                .exceeded(
                        new Decision.Rejected(Results.of(rejected("org", 1, MINUTE, 1, 1))),
                        new RejectionResponses.Context("", false, AcceptHeader.ANYTHING));
        assertThat((byte[]) response.getEntity()).isEqualTo("sp\u00e4ter".getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    void showsTheLengthAndTheEndOfThePeriodOfACalendarLimit() {
        ZonedDateTime end = ZonedDateTime.parse("2026-12-01T00:00:00+01:00[Europe/Berlin]");
        Response response = exceeded(
                List.of("draft-11"),
                TestQuota.of(
                        "api", "api", 3, 3, Duration.ofDays(30), 0, true, 86_400_000_000L, 86_400_000_000L, 0, end, 0));

        assertThat(fields(response))
                .containsEntry("Retry-After", "86400")
                .containsEntry("RateLimit-Policy", "\"api\";q=3;w=2592000")
                .containsEntry("RateLimit", "\"api\";r=0;t=86400");
        assertThat(body(response))
                .contains(
                        "\"detail\":\"The quota of the policy api is used up and resets on 1 December 00:00 Europe/Berlin.\"");
    }

    @Test
    void theShortestWaitIsOneSecond() {
        Response response = exceeded(List.of("draft-11"), rejected("api", 100, Duration.ofMillis(10), 1, 1));
        assertThat(fields(response))
                .containsEntry("Retry-After", "1")
                .containsEntry("RateLimit", "\"api\";r=0;t=1")
                .containsEntry("RateLimit-Policy", "\"api\";q=100");
        assertThat(body(response)).contains(",\"retry_after\":1,\"message\":");
    }

    @Test
    void writesNoWaitIfNoWaitHelps() {
        Quota never = TestQuota.of("api", "api", 10, 10, MINUTE, 10, true, Micros.NEVER, 0, 0);
        Response response = exceeded(List.of("draft-11"), rejected("other", 1, MINUTE, 5_000_000, 5_000_000), never);
        assertThat(response.getStatus()).isEqualTo(429);
        assertThat(fields(response)).doesNotContainKey("Retry-After").containsEntry("RateLimit", "\"api\";r=10");
        assertThat(body(response))
                .contains("\"detail\":\"The call costs more than the policy api can ever allow.\"")
                .contains("\"violated-policies\":[\"other\",\"api\"]")
                .doesNotContain("retry_after");
    }

    @Test
    void writesNoQuotaFieldWithoutDialects() {
        assertThat(fields(exceeded(List.of(), rejected("api", 100, MINUTE, 1, 1))))
                .containsOnlyKeys("Content-Type", "Cache-Control", "Retry-After", "Vary");
    }

    @Test
    void anUnavailableBackendIsA503WithoutQuotas() {
        Response response = rejections().unavailable(Duration.ZERO, AcceptHeader.ANYTHING);
        assertThat(response.getStatus()).isEqualTo(503);
        assertThat(fields(response))
                .isEqualTo(Map.of(
                        "Content-Type", "application/problem+json",
                        "Cache-Control", "no-store",
                        "Vary", "Accept",
                        "Retry-After", "1"));
        assertThat(body(response))
                .isEqualTo(
                        "{\"type\":\"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity\","
                                + "\"title\":\"Service Unavailable\",\"status\":503,"
                                + "\"detail\":\"The service cannot check its rate limits as usual at the moment and takes fewer calls.\","
                                + "\"error\":\"rate_limit_unavailable\",\"retry_after\":1,"
                                + "\"message\":\"The service cannot check its rate limits as usual at the moment and takes fewer calls. Try again in 1 second.\"}");
        assertThat(fields(rejections().unavailable(Duration.ZERO, AcceptHeader.parse(List.of("text/html")))))
                .containsEntry("Content-Type", "text/html;charset=UTF-8");
    }

    @ParameterizedTest
    @CsvSource({
        "PT0S, 1, 1 second",
        "PT0.000000001S, 1, 1 second",
        "PT1S, 1, 1 second",
        "PT1.000000001S, 2, 2 seconds",
        "PT12.5S, 13, 13 seconds",
        "PT2M, 120, 120 seconds",
        "PT2M1S, 121, 3 minutes",
        "PT2H, 7200, 120 minutes",
        "PT2H1S, 7201, 3 hours",
        "PT48H, 172800, 48 hours",
        "PT379896S, 379896, 5 days"
    })
    void roundsTheWaitForTheBackendUp(Duration wait, long seconds, String text) {
        Response response = rejections().unavailable(wait, AcceptHeader.ANYTHING);
        assertThat(fields(response)).containsEntry("Retry-After", String.valueOf(seconds));
        assertThat(body(response)).contains("\"retry_after\":" + seconds + ",").contains("Try again in " + text + ".");
        MultivaluedMap<String, Object> bare = new MultivaluedHashMap<>();
        RejectionResponses.complete(new Decision.Degraded(FailureMode.LOCAL, false, "timeout", wait), bare);
        assertThat(bare).containsEntry("Retry-After", List.of(seconds));
    }

    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void theResponseOfEachFailureModeReportsReducedCapacity(FailureMode mode) {
        Decision decision = new Decision.Degraded(mode, false, "timeout", Duration.ofSeconds(7));
        Response response = rejections()
                .response(
                        new Entry(
                                Entry.Passage.DECIDED,
                                decision,
                                Binding.NONE,
                                new RequestState(CallContext.NONE),
                                false,
                                CallEnds.Slots.NONE),
                        new MultivaluedHashMap<>(),
                        new ApplicationMappers(() -> null, () -> null));
        assertThat(response.getStatus()).isEqualTo(503);
        assertThat(fields(response)).containsEntry("Retry-After", "7").doesNotContainKey("RateLimit");
        assertThat(body(response)).contains("#temporary-reduced-capacity\"");
    }

    @Test
    void linksTheHelpOfTheFirstViolatedPolicyWithHelp() {
        Response response = response(
                false,
                "application/json",
                rejected("api", 1, MINUTE, 1, 1),
                allowed("org", 5, MINUTE, 2, 1, 1),
                rejected("user", 1, MINUTE, 1, 1));
        assertThat(fields(response))
                .containsEntry("Link", "</limits#user>; rel=\"help\"")
                .containsEntry("Content-Type", "application/json");
        assertThat(body(response)).endsWith(",\"help\":\"/limits#user\"}");
    }

    @Test
    void minimalDisclosureShowsOnlyTheWait() {
        Response response =
                response(true, "", rejected("org", 1, MINUTE, 16_000_001, 1), rejected("secret", 1, MINUTE, 1, 1));
        assertThat(fields(response))
                .isEqualTo(Map.of(
                        "Content-Type", "application/problem+json",
                        "Cache-Control", "no-store",
                        "Vary", "Accept",
                        "Retry-After", "17"));
        assertThat(body(response))
                .isEqualTo("{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                        + "\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\"There were too many requests.\","
                        + "\"error\":\"rate_limit_exceeded\",\"retry_after\":17,"
                        + "\"message\":\"There were too many requests. Try again in 17 seconds.\"}");
    }

    @Test
    void oneMinimalPolicyMakesTheDecisionMinimal() {
        assertThat(rejections()
                        .isMinimal(new Decision.Rejected(
                                Results.of(rejected("api", 1, MINUTE, 1, 1), allowed("secret", 5, MINUTE, 2, 1, 1)))))
                .isTrue();
        assertThat(rejections()
                        .isMinimal(new Decision.Rejected(
                                Results.of(rejected("api", 1, MINUTE, 1, 1), rejected("gone", 1, MINUTE, 1, 1)))))
                .isFalse();
    }

    @Test
    void theBodyOfTheApplicationReplacesOnlyTheDefaultBody() {
        List<RejectionResponder.Rejection> received = new ArrayList<>();
        Response response = rejections(rejection -> {
                    received.add(rejection);
                    return Optional.of(new RejectionResponder.Body("text/csv;header=absent", "later,17"));
                })
                .exceeded(
                        new Decision.Rejected(Results.of(rejected("org", 1, MINUTE, 16_000_001, 1))),
                        new RejectionResponses.Context(
                                "Search.find", false, AcceptHeader.parse(List.of("text/csv, */*;q=0.1"))));
        assertThat(response.getStatus()).isEqualTo(429);
        assertThat(fields(response))
                .isEqualTo(Map.of(
                        "Content-Type",
                        "text/csv;header=absent",
                        "Cache-Control",
                        "no-store",
                        "Link",
                        "</limits#org>; rel=\"help\"",
                        "Vary",
                        "Accept",
                        "Retry-After",
                        "17"));
        assertThat(body(response)).isEqualTo("later,17");
        assertThat(received).singleElement().satisfies(rejection -> {
            assertThat(rejection.endpoint()).isEqualTo("Search.find");
            assertThat(rejection.decision().violatedPolicies()).containsExactly("org");
            assertThat(rejection.retryAfterSeconds()).hasValue(17);
            assertThat(rejection.acceptedMediaTypes()).containsExactly("text/csv", "*/*");
        });
    }

    @Test
    void completesAResponseOfTheApplication() {
        Decision.Rejected decision = new Decision.Rejected(Results.of(rejected("api", 1, MINUTE, 16_000_001, 1)));
        MultivaluedMap<String, Object> bare = new MultivaluedHashMap<>();
        RejectionResponses.complete(decision, bare);
        assertThat(bare)
                .containsOnly(Map.entry("Retry-After", List.of(17L)), Map.entry("Cache-Control", List.of("no-store")));

        MultivaluedMap<String, Object> full = new MultivaluedHashMap<>();
        full.putSingle("Retry-After", "60");
        full.putSingle("Cache-Control", "private, no-store");
        RejectionResponses.complete(decision, full);
        assertThat(full)
                .containsOnly(
                        Map.entry("Retry-After", List.of("60")),
                        Map.entry("Cache-Control", List.of("private, no-store")));

        MultivaluedMap<String, Object> unavailable = new MultivaluedHashMap<>();
        RejectionResponses.complete(new Decision.Degraded(FailureMode.CLOSED, false, "timeout"), unavailable);
        assertThat(unavailable).containsEntry("Retry-After", List.of(1L));

        MultivaluedMap<String, Object> never = new MultivaluedHashMap<>();
        RejectionResponses.complete(
                new Decision.Rejected(
                        Results.of(TestQuota.of("api", "api", 1, 1, MINUTE, 1, true, Micros.NEVER, 0, 0))),
                never);
        assertThat(never).doesNotContainKey("Retry-After");
    }

    @ParameterizedTest
    @Tag("field")
    @CsvSource(
            delimiter = '|',
            value = {
                "public, max-age=300        | no-store",
                "max-age=60                 | no-store",
                "s-maxage=10                | no-store",
                "no-cache                   | no-store",
                "NO-STORE                   | NO-STORE",
                "private, max-age=5         | private, max-age=5",
                "max-age=5,private          | max-age=5,private",
                "max-age=5, private=\"x-id\" | no-store",
                "max-age=5, x-private       | no-store",
                "no-store, no-cache         | no-store, no-cache",
            })
    void noSharedCacheStoresARejection(String ofTheApplication, String sent) {
        Decision.Rejected decision = new Decision.Rejected(Results.of(rejected("api", 1, MINUTE, 16_000_001, 1)));
        MultivaluedMap<String, Object> fields = new MultivaluedHashMap<>();
        fields.putSingle("Cache-Control", ofTheApplication);
        fields.putSingle("CDN-Cache-Control", "max-age=600");
        fields.putSingle("Surrogate-Control", "max-age=600");
        RejectionResponses.complete(decision, fields);
        assertThat(fields)
                .containsOnly(Map.entry("Cache-Control", List.of(sent)), Map.entry("Retry-After", List.of(17L)));
    }

    @Test
    @Tag("field")
    void noSharedCacheStoresARejectionWithATypedField() {
        Decision degraded = new Decision.Degraded(FailureMode.CLOSED, false, "timeout");
        CacheControl ofAll = new CacheControl();
        ofAll.setMaxAge(300);
        MultivaluedMap<String, Object> fields = new MultivaluedHashMap<>();
        fields.putSingle("Cache-Control", ofAll);
        RejectionResponses.complete(degraded, fields);
        assertThat(fields).containsEntry("Cache-Control", List.of("no-store"));

        CacheControl ofOne = new CacheControl();
        ofOne.setPrivate(true);
        fields.putSingle("Cache-Control", ofOne);
        RejectionResponses.complete(degraded, fields);
        assertThat(fields).containsEntry("Cache-Control", List.of(ofOne));
    }
}
