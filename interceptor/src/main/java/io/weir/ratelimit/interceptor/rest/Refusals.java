// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import jakarta.ws.rs.core.CacheControl;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Answers to calls that may not go on, as RFC 9457 problem details: 429 for a quota that is used up (RFC 6585; never cached), 503
 * for a store that does not answer, which is no quota and names none.
 */
final class Refusals {
    private static final String PROBLEM_JSON = "application/problem+json";
    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";
    private static final int TOO_MANY_REQUESTS = 429;

    /** A failed store is asked again with the next call, so the shortest wait that can be said. */
    private static final long UNAVAILABLE_SECONDS = 1;

    private Refusals() {}

    /** The answer to a call over a quota, with the fields that tell the quotas. */
    static Response exceeded(Decision.Rejected decision, QuotaFields fields, long nowSeconds) {
        List<String> violated = decision.violatedPolicies();
        Quota decisive = decision.decisive();
        boolean forever = decisive.retryAfterMicros() == Quota.NEVER;
        long seconds = forever ? 0 : waitSeconds(decisive.retryAfterMicros());
        String detail = forever
                ? "The call costs more than the policy " + decisive.policy() + " can ever allow."
                : "The quota of the policy " + violated.get(0) + " is used up.";
        String names = violated.stream().map(name -> '"' + name + '"').collect(Collectors.joining(","));
        Response.ResponseBuilder response = response(
                TOO_MANY_REQUESTS,
                "Too Many Requests",
                "{\"type\":\"" + TYPES + "quota-exceeded\",\"title\":\"Too Many Requests\",\"status\":429,\"detail\":\""
                        + detail
                        + "\",\"violated-policies\":[" + names + "],\"error\":\"rate_limit_exceeded\""
                        + (forever ? "" : ",\"retry_after\":" + seconds) + "}");
        if (!forever) {
            response.header(HttpHeaders.RETRY_AFTER, seconds);
        }
        Response built = response.build();
        fields.write(QuotaView.refused(decision, nowSeconds), built.getHeaders());
        return built;
    }

    /** The answer when the store does not answer and the policy is closed. */
    static Response unavailable() {
        return response(
                        Response.Status.SERVICE_UNAVAILABLE.getStatusCode(),
                        "Service Unavailable",
                        "{\"type\":\"" + TYPES
                                + "temporary-reduced-capacity\",\"title\":\"Service Unavailable\",\"status\":503,"
                                + "\"detail\":\"The service cannot check its rate limits at the moment.\","
                                + "\"error\":\"rate_limit_unavailable\",\"retry_after\":" + UNAVAILABLE_SECONDS + "}")
                .header(HttpHeaders.RETRY_AFTER, UNAVAILABLE_SECONDS)
                .build();
    }

    /** Seconds that a client has to wait: rounded up, since one who comes too early is refused again, and at least 1. */
    static long waitSeconds(long micros) {
        return Math.max(1, QuotaView.ceilSeconds(micros));
    }

    private static Response.ResponseBuilder response(int status, String reason, String body) {
        CacheControl noStore = new CacheControl();
        noStore.setNoStore(true);
        noStore.setNoTransform(false);
        return Response.status(status, reason)
                .type(PROBLEM_JSON)
                .cacheControl(noStore)
                .entity(body);
    }
}
