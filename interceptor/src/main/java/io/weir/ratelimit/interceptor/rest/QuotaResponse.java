// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.response.JsonText;
import io.weir.ratelimit.core.response.QuotaView;
import io.weir.ratelimit.core.response.RejectionProblems;
import io.weir.ratelimit.runtime.HttpResource.Answer;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The answers of the quota resource. Their bodies are JSON documents. */
public final class QuotaResponse {
    private QuotaResponse() {}

    public static Answer of(Map<String, List<Quota>> quotas) {
        List<Map<String, Object>> policies = quotas.entrySet().stream()
                .map(policy -> policy(policy.getKey(), policy.getValue()))
                .toList();
        return new Answer(200, headers("application/json"), JsonText.of(Map.of("policies", policies)));
    }

    /** Returns the answer to a read that is rejected, or that the backend does not answer. */
    static Answer of(RejectionProblems.Problem problem) {
        BodyFormat format = BodyFormat.PROBLEM_JSON;
        Map<String, String> headers = headers(format.mediaType());
        problem.retryAfter().ifPresent(seconds -> headers.put("Retry-After", Long.toString(seconds)));
        return new Answer(problem.status(), headers, format.render(problem));
    }

    private static Map<String, String> headers(String mediaType) {
        return new HashMap<>(
                Map.of("Cache-Control", "no-store", "X-Content-Type-Options", "nosniff", "Content-Type", mediaType));
    }

    private static Map<String, Object> policy(String name, List<Quota> quotas) {
        Map<String, Object> policy = new LinkedHashMap<>();
        policy.put("name", name);
        policy.put("limits", quotas.stream().map(QuotaResponse::limit).toList());
        return policy;
    }

    private static Map<String, Object> limit(Quota quota) {
        Map<String, Object> limit = new LinkedHashMap<>();
        limit.put("name", quota.name());
        limit.put("permits", quota.permits());
        limit.put("window", seconds(quota.window()));
        limit.put("unit", quota.kind() == Quota.Kind.CONCURRENCY ? "concurrent-requests" : "requests");
        limit.put("capacity", quota.capacity());
        limit.put("remaining", quota.remaining());
        if (quota.kind() == Quota.Kind.CONCURRENCY) { // nobody knows when a call ends
            return limit;
        }
        limit.put("reset", QuotaView.ceilSeconds(Micros.resetAfter(quota)));
        quota.periodEnd().ifPresent(end -> limit.put("period_end", DateTimeFormatter.ISO_OFFSET_DATE_TIME.format(end)));
        return limit;
    }

    /** Returns seconds, with a fraction only if there is one. */
    private static BigDecimal seconds(Duration window) {
        return BigDecimal.valueOf(window.toMillis(), 3).stripTrailingZeros();
    }
}
