// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.limit.PeriodEnd;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.Response;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * The responses to rejected calls, with a body in the format that the client accepts (by default RFC 9457).
 *
 * <p>The status is 429 for an exhausted quota (RFC 6585), and 503 if the backend is unavailable. {@link QuotaFields} adds the header
 * fields with quotas. A body is bytes, because a writer of the application can change how a text or an object is written.
 */
final class RejectionResponses {
    private static final String TYPES = "https://iana.org/assignments/http-problem-types#";
    private static final int TOO_MANY_REQUESTS = 429;

    private final Function<String, Optional<Policy>> policies;
    private final CustomBodies bodies;

    /**
     * Creates the responses.
     *
     * @param policies returns the current version of a policy by name
     */
    RejectionResponses(Function<String, Optional<Policy>> policies, CustomBodies bodies) {
        this.policies = policies;
        this.bodies = bodies;
    }

    /** Returns whether a policy of a decision has minimal disclosure. */
    boolean isMinimal(Decision decision) {
        return decision.quotas().stream()
                .map(Quota::policy)
                .flatMap(name -> policies.apply(name).stream())
                .anyMatch(policy -> policy.response().disclosure() == Policy.Disclosure.MINIMAL);
    }

    /** Returns the response to a rejected request: that of the application's mapper, else that of Weir. */
    Response response(Entry entry, MultivaluedMap<String, String> headers, ApplicationMappers mappers) {
        AcceptHeader accept = AcceptHeader.parse(headers.get(HttpHeaders.ACCEPT));
        if (entry.decision() instanceof Decision.Rejected rejected) {
            boolean minimal =
                    entry.request() != null && entry.request().quotas().areHidden();
            return mappers.response(new RateLimitExceededException(rejected))
                    .orElseGet(() -> exceeded(
                            rejected, new RejectionContext(entry.binding().endpoint(), minimal, accept)));
        }
        Decision.Degraded degraded = (Decision.Degraded) entry.decision();
        return mappers.response(new RateLimitUnavailableException(degraded.reason(), degraded.retryAfter()))
                .orElseGet(() -> unavailable(degraded.retryAfter(), accept));
    }

    /** Returns the response to a call that exceeds a limit. */
    Response exceeded(Decision.Rejected decision, RejectionContext request) {
        Problem problem = request.minimal() ? generic(decision) : named(decision);
        Response.ResponseBuilder response = started(problem);
        problem.help().ifPresent(help -> response.header(HttpHeaders.LINK, "<" + help + ">; rel=\"help\""));
        Optional<RejectionResponder.Body> own = bodies.body(new RejectionResponder.Rejection(
                request.endpoint(),
                decision,
                problem.retryAfter(),
                request.accept().names()));
        if (own.isPresent()) {
            MediaType type = MediaType.valueOf(own.get().mediaType());
            return response.type(type)
                    .entity(own.get().text().getBytes(charset(type)))
                    .build();
        }
        return ended(response, problem, request.accept());
    }

    /** Returns the response to a call that is rejected because the backend is unavailable. */
    Response unavailable(Duration retryAfter, AcceptHeader accept) {
        Problem problem = unavailableProblem(retryAfter);
        return ended(started(problem), problem, accept);
    }

    /** Returns the problem of a call that is rejected because the backend is unavailable. */
    static Problem unavailableProblem(Duration retryAfter) {
        return new Problem(
                Response.Status.SERVICE_UNAVAILABLE.getStatusCode(),
                "Service Unavailable",
                TYPES + "temporary-reduced-capacity",
                "rate_limit_unavailable",
                "The service cannot check its rate limits as usual at the moment and takes fewer calls.",
                List.of(),
                OptionalLong.of(unavailableSeconds(retryAfter)),
                Optional.empty());
    }

    /** Returns the wait in seconds, at least 1, which is the smallest valid value. */
    private static long unavailableSeconds(Duration retryAfter) {
        return Math.max(1, retryAfter.plusNanos(999_999_999).toSeconds());
    }

    /** Adds the missing header fields to a response that the application has created for a rejected call. */
    static void complete(Decision decision, MultivaluedMap<String, Object> fields) {
        OptionalLong wait = decision instanceof Decision.Rejected rejected
                ? QuotaView.waitSeconds(rejected)
                : OptionalLong.of(unavailableSeconds(
                        decision instanceof Decision.Degraded degraded ? degraded.retryAfter() : Duration.ZERO));
        if (wait.isPresent() && !fields.containsKey(HttpHeaders.RETRY_AFTER)) {
            fields.putSingle(HttpHeaders.RETRY_AFTER, wait.getAsLong());
        }
        if (!fields.containsKey(HttpHeaders.CACHE_CONTROL)) {
            fields.putSingle(HttpHeaders.CACHE_CONTROL, "no-store");
        }
    }

    private Problem named(Decision.Rejected decision) {
        List<String> violated = decision.violatedPolicies();
        OptionalLong wait = QuotaView.waitSeconds(decision);
        if (decision.blocked()) {
            return exceeded(
                    decision,
                    "The caller is blocked under the policy " + blockedPolicy(decision) + ".",
                    limits(decision),
                    wait,
                    help(violated));
        }
        String detail = wait.isEmpty()
                ? "The call costs more than the policy "
                        + decision.decisiveQuota().policy() + " can ever allow."
                : reason(decision, violated.get(0));
        return exceeded(decision, detail, limits(decision), wait, help(violated));
    }

    /** Returns the names of the limits that rejected the call, as the header fields name them. */
    private static List<String> limits(Decision.Rejected decision) {
        return decision.quotas().stream()
                .filter(Quota::rejected)
                .map(Quota::name)
                .distinct()
                .toList();
    }

    private static String reason(Decision.Rejected decision, String policy) {
        boolean onlySlots = decision.quotas().stream()
                .filter(quota -> quota.rejected() && quota.policy().equals(policy))
                .allMatch(quota -> quota.kind() == Quota.Kind.CONCURRENCY);
        return onlySlots
                ? "Too many calls of the caller run at once under the policy " + policy + "."
                : "The quota of the policy " + policy + " is used up" + reset(decision, policy) + ".";
    }

    private Optional<String> help(List<String> violated) {
        return violated.stream()
                .flatMap(name ->
                        policies.apply(name).flatMap(policy -> policy.response().help()).stream())
                .findFirst();
    }

    private static String blockedPolicy(Decision.Rejected decision) {
        return decision.quotas().stream()
                .filter(Quota::blocked)
                .map(Quota::policy)
                .findFirst()
                .orElseThrow();
    }

    /** Returns the end of the period if a calendar limit of the policy is the one with the longest wait. */
    private static String reset(Decision.Rejected decision, String policy) {
        Quota decisive = decision.decisiveQuota();
        return decisive.periodEnd()
                .filter(end -> decisive.policy().equals(policy))
                .map(end -> " and resets on " + PeriodEnd.text(end))
                .orElse("");
    }

    /** Returns a problem that discloses no policy. */
    static Problem generic(Decision.Rejected decision) {
        return exceeded(
                decision,
                "There were too many requests.",
                List.of(),
                QuotaView.waitSeconds(decision),
                Optional.empty());
    }

    /** Returns the problem of an exhausted quota, or of a blocked key. */
    private static Problem exceeded(
            Decision.Rejected decision,
            String detail,
            List<String> violated,
            OptionalLong wait,
            Optional<String> help) {
        return new Problem(
                TOO_MANY_REQUESTS,
                "Too Many Requests",
                TYPES + (decision.blocked() ? "abnormal-usage-detected" : "quota-exceeded"),
                decision.blocked() ? "rate_limit_blocked" : "rate_limit_exceeded",
                detail,
                violated,
                wait,
                help);
    }

    private static Response.ResponseBuilder started(Problem problem) {
        Response.ResponseBuilder response = Response.status(problem.status(), problem.title())
                .header(HttpHeaders.CACHE_CONTROL, "no-store")
                .header(HttpHeaders.VARY, HttpHeaders.ACCEPT);
        problem.retryAfter().ifPresent(seconds -> response.header(HttpHeaders.RETRY_AFTER, seconds));
        return response;
    }

    private static Response ended(Response.ResponseBuilder response, Problem problem, AcceptHeader accept) {
        BodyFormat format = BodyFormat.acceptedBy(accept);
        return response.type(format.mediaType())
                .entity(format.render(problem).getBytes(StandardCharsets.UTF_8))
                .build();
    }

    /**
     * Returns the charset of a body.
     *
     * @throws IllegalArgumentException if the platform does not have it
     */
    static Charset charset(MediaType type) {
        return Charset.forName(type.getParameters().getOrDefault(MediaType.CHARSET_PARAMETER, "UTF-8"));
    }
}
