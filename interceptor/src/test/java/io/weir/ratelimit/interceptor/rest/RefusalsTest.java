// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static io.weir.ratelimit.interceptor.rest.Quotas.NOW_SECONDS;
import static io.weir.ratelimit.interceptor.rest.Quotas.admitted;
import static io.weir.ratelimit.interceptor.rest.Quotas.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitUnavailableException;
import jakarta.ws.rs.core.Response;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RefusalsTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static Response exceeded(List<String> dialects, Quota... quotas) {
        return Refusals.exceeded(
                new Decision.Rejected(List.of(quotas)), new QuotaFields(HeaderDialect.named(dialects)), NOW_SECONDS);
    }

    private static Map<String, String> fields(Response response) {
        Map<String, String> fields = new TreeMap<>();
        response.getStringHeaders().forEach((name, values) -> fields.put(name, String.join(" | ", values)));
        return fields;
    }

    @Test
    void aQuotaThatIsUsedUpIsA429WithAProblem() {
        Response response = exceeded(List.of("ietf"), refused("api", 100, MINUTE, 16_000_001, 20_000_000));
        assertThat(response.getStatus()).isEqualTo(429);
        assertThat(response.getStatusInfo().getReasonPhrase()).isEqualTo("Too Many Requests");
        assertThat(fields(response))
                .isEqualTo(Map.of(
                        "Content-Type", "application/problem+json",
                        "Cache-Control", "no-store",
                        "Retry-After", "17",
                        "RateLimit-Policy", "\"api\";q=100;w=60",
                        "RateLimit", "\"api\";r=0;t=17"));
        assertThat(response.getEntity())
                .isEqualTo("{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
                        + "\"title\":\"Too Many Requests\",\"status\":429,"
                        + "\"detail\":\"The quota of the policy api is used up.\","
                        + "\"violated-policies\":[\"api\"],\"error\":\"rate_limit_exceeded\",\"retry_after\":17}");
    }

    @Test
    void severalViolatedPoliciesAreListedInOrderAndTheLongestWaitCounts() {
        Response response = exceeded(
                List.of("ietf", "draft-06", "legacy"),
                refused("api-1s", 10, Duration.ofSeconds(1), 500_000, 1_000_000),
                admitted("org", 1000, MINUTE, 10, 1, 1),
                refused("api-1h", 1000, Duration.ofHours(1), 90_000_000, 100_000_000),
                refused("user", 5, MINUTE, 3_000_000, 4_000_000));
        assertThat(fields(response))
                .containsEntry("Retry-After", "90")
                .containsEntry("RateLimit", "\"api-1h\";r=0;t=90")
                .containsEntry(
                        "RateLimit-Policy",
                        "\"api-1s\";q=10;w=1, \"org\";q=1000;w=60, \"api-1h\";q=1000;w=3600, \"user\";q=5;w=60")
                .containsEntry("RateLimit-Limit", "1000")
                .containsEntry("RateLimit-Reset", "100")
                .containsEntry("X-RateLimit-Reset", String.valueOf(NOW_SECONDS + 100));
        assertThat(response.getEntity().toString())
                .contains("\"detail\":\"The quota of the policy api is used up.\"")
                .contains("\"violated-policies\":[\"api\",\"user\"]");
    }

    @Test
    void theShortestWaitIsOneSecond() {
        Response response = exceeded(List.of("ietf"), refused("api", 100, Duration.ofMillis(10), 1, 1));
        assertThat(fields(response))
                .containsEntry("Retry-After", "1")
                .containsEntry("RateLimit", "\"api\";r=0;t=1")
                .containsEntry("RateLimit-Policy", "\"api\";q=100");
        assertThat(response.getEntity().toString()).endsWith(",\"retry_after\":1}");
    }

    @Test
    void aCallThatNoWaitHelpsIsToldNoTime() {
        Quota never = new Quota("api", "api", 10, 10, MINUTE, 10, true, Quota.NEVER, 0, 0);
        Response response = exceeded(List.of("ietf"), refused("other", 1, MINUTE, 5_000_000, 5_000_000), never);
        assertThat(response.getStatus()).isEqualTo(429);
        assertThat(fields(response)).doesNotContainKey("Retry-After").containsEntry("RateLimit", "\"api\";r=10");
        assertThat(response.getEntity().toString())
                .contains("\"detail\":\"The call costs more than the policy api can ever allow.\"")
                .contains("\"violated-policies\":[\"other\",\"api\"]")
                .doesNotContain("retry_after");
    }

    @Test
    void withoutDialectsNoQuotaFieldIsWritten() {
        assertThat(fields(exceeded(List.of(), refused("api", 100, MINUTE, 1, 1))))
                .containsOnlyKeys("Content-Type", "Cache-Control", "Retry-After");
    }

    @Test
    void aStoreThatIsAwayIsA503ThatNamesNoQuota() {
        for (Response response : List.of(
                Refusals.unavailable(),
                new UnavailableMapper().toResponse(new RateLimitUnavailableException("timeout")))) {
            assertThat(response.getStatus()).isEqualTo(503);
            assertThat(fields(response))
                    .isEqualTo(Map.of(
                            "Content-Type", "application/problem+json",
                            "Cache-Control", "no-store",
                            "Retry-After", "1"));
            assertThat(response.getEntity())
                    .isEqualTo(
                            "{\"type\":\"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity\","
                                    + "\"title\":\"Service Unavailable\",\"status\":503,"
                                    + "\"detail\":\"The service cannot check its rate limits at the moment.\","
                                    + "\"error\":\"rate_limit_unavailable\",\"retry_after\":1}");
        }
    }
}
