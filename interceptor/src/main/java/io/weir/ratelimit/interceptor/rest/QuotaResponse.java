// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.response.Problem;
import io.weir.ratelimit.core.response.RejectionProblems;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * A response of the quota resource.
 *
 * @param body the body, a JSON document
 * @param retryAfter the seconds to wait, empty if no wait helps
 */
public record QuotaResponse(int status, String mediaType, String body, OptionalLong retryAfter) {
    /** Returns the response with quotas. */
    public static QuotaResponse of(Map<String, List<Quota>> quotas) {
        return new QuotaResponse(200, "application/json", QuotaDocument.of(quotas), OptionalLong.empty());
    }

    /** Returns the response to a rejected read. */
    public static QuotaResponse rejected(Decision.Rejected rejection) {
        return of(RejectionProblems.generic(rejection));
    }

    /**
     * Returns the response while the backend does not answer.
     *
     * @param retryAfter the time to wait
     */
    public static QuotaResponse unavailable(Duration retryAfter) {
        return of(RejectionProblems.unavailable(retryAfter));
    }

    private static QuotaResponse of(Problem problem) {
        BodyFormat format = BodyFormat.PROBLEM_JSON;
        return new QuotaResponse(problem.status(), format.mediaType(), format.render(problem), problem.retryAfter());
    }
}
