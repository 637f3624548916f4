// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.response.RejectionProblems;
import io.weir.ratelimit.runtime.HttpResource.Answer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The answers of the quota resource. Their bodies are JSON documents. */
public final class QuotaResponse {
    private QuotaResponse() {}

    /** Returns the answer with quotas. */
    public static Answer of(Map<String, List<Quota>> quotas) {
        return new Answer(200, headers("application/json"), QuotaDocument.of(quotas));
    }

    /** Returns the answer to a rejected read. */
    static Answer rejected(Decision.Rejected rejection) {
        return of(RejectionProblems.generic(rejection));
    }

    /** Returns the answer while the backend does not answer, with the time to wait. */
    static Answer unavailable(Duration retryAfter) {
        return of(RejectionProblems.unavailable(retryAfter));
    }

    private static Answer of(RejectionProblems.Problem problem) {
        BodyFormat format = BodyFormat.PROBLEM_JSON;
        Map<String, String> headers = headers(format.mediaType());
        problem.retryAfter().ifPresent(seconds -> headers.put("Retry-After", Long.toString(seconds)));
        return new Answer(problem.status(), headers, format.render(problem));
    }

    private static Map<String, String> headers(String mediaType) {
        return new HashMap<>(
                Map.of("Cache-Control", "no-store", "X-Content-Type-Options", "nosniff", "Content-Type", mediaType));
    }
}
