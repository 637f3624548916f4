// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/**
 * An assertion about a response, by its status, the fields {@code RateLimit}, {@code RateLimit-Policy} and {@code Retry-After}, and the
 * problem in its body.
 *
 * @param <R> the type of the response
 */
public final class ResponseAssert<R> extends AbstractAssert<ResponseAssert<R>, R> {
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVICE_UNAVAILABLE = 503;

    private final ToIntFunction<R> status;
    private final BiFunction<R, String, String> fields;
    private final Function<R, String> body;

    /**
     * Creates an assertion.
     *
     * @param fields returns the lines of a field, joined by commas; empty if there is none
     * @param body returns the body as a text; empty if it is no text
     */
    ResponseAssert(
            @Nullable R actual,
            ToIntFunction<R> status,
            BiFunction<R, String, String> fields,
            Function<R, String> body) {
        super(actual, ResponseAssert.class);
        this.status = status;
        this.fields = fields;
        this.body = body;
    }

    /**
     * Verifies the status.
     *
     * @param expected the status
     * @return this assertion
     */
    public ResponseAssert<R> hasStatus(int expected) {
        isNotNull();
        int found = status.applyAsInt(actual);
        if (found != expected) {
            failWithMessage("expected the status %s but was %s", expected, found);
        }
        return this;
    }

    /**
     * Verifies that the request is neither over a limit nor rejected because of an outage.
     *
     * @return this assertion
     */
    public ResponseAssert<R> isAllowed() {
        isNotNull();
        int found = status.applyAsInt(actual);
        if (found == TOO_MANY_REQUESTS || found == SERVICE_UNAVAILABLE) {
            failWithMessage("expected an allowed request but the status was %s", found);
        }
        return this;
    }

    /**
     * Verifies that the request is rejected with the status 429, and that the field {@code RateLimit} names a limit of the policy.
     *
     * @param policy the name of the policy
     * @return this assertion
     */
    public ResponseAssert<R> isRejectedBy(String policy) {
        hasStatus(TOO_MANY_REQUESTS);
        List<QuotaField> quotas = quotas("RateLimit");
        if (quotas.stream().noneMatch(quota -> quota.isOf(policy))) {
            failWithMessage("expected a rejection by %s but the quotas were %s", policy, quotas);
        }
        return this;
    }

    /**
     * Verifies that the request is rejected with the status 503, because the backend is unavailable.
     *
     * @return this assertion
     */
    public ResponseAssert<R> isUnavailable() {
        return hasStatus(SERVICE_UNAVAILABLE);
    }

    /**
     * Verifies the field {@code Retry-After}.
     *
     * @param expected the time, rounded up to whole seconds
     * @return this assertion
     */
    public ResponseAssert<R> retryAfter(Duration expected) {
        isNotNull();
        String found = fields.apply(actual, "Retry-After");
        String seconds = Long.toString(expected.plusNanos(999_999_999).toSeconds());
        if (!found.equals(seconds)) {
            failWithMessage("expected Retry-After: %s but was \"%s\"", seconds, found);
        }
        return this;
    }

    /**
     * Verifies the remaining permits in the field {@code RateLimit}.
     *
     * @param limit the name of the limit, which is that of the policy if the policy has one limit
     * @param remaining the remaining permits
     * @return this assertion
     */
    public ResponseAssert<R> hasQuota(String limit, long remaining) {
        return hasParameter("RateLimit", limit, "r", remaining);
    }

    /**
     * Verifies a limit in the field {@code RateLimit-Policy}.
     *
     * @param limit the name of the limit, which is that of the policy if the policy has one limit
     * @param permits the permits per window
     * @param window the window, in whole seconds
     * @return this assertion
     */
    public ResponseAssert<R> hasLimit(String limit, long permits, Duration window) {
        hasParameter("RateLimit-Policy", limit, "q", permits);
        return hasParameter("RateLimit-Policy", limit, "w", window.toSeconds());
    }

    /**
     * Verifies a concurrency limit in the field {@code RateLimit-Policy}, whose quota unit is {@code concurrent-requests}.
     *
     * @param limit the name of the limit, which is that of the policy if the policy has one limit
     * @param calls the calls that may run at once
     * @return this assertion
     */
    public ResponseAssert<R> hasConcurrencyLimit(String limit, long calls) {
        hasParameter("RateLimit-Policy", limit, "q", calls);
        boolean isFound = quotas("RateLimit-Policy").stream()
                .filter(quota -> quota.name().equals(limit))
                .anyMatch(quota ->
                        "\"concurrent-requests\"".equals(quota.parameters().get("qu")));
        if (!isFound) {
            failWithMessage(
                    "expected RateLimit-Policy: \"%s\" with qu=\"concurrent-requests\" but was \"%s\"",
                    limit, fields.apply(actual, "RateLimit-Policy"));
        }
        return this;
    }

    /**
     * Verifies the type of the problem in the body.
     *
     * @param type the URI, or its fragment, such as {@code quota-exceeded}, {@code abnormal-usage-detected} or {@code
     *     temporary-reduced-capacity}
     * @return this assertion
     */
    public ResponseAssert<R> hasProblem(String type) {
        String found = member("type");
        if (!found.equals(type) && !found.endsWith("#" + type)) {
            failWithMessage("expected a problem of the type %s but was \"%s\"", type, found);
        }
        return this;
    }

    /**
     * Verifies the detail of the problem in the body.
     *
     * @param text a part of the detail
     * @return this assertion
     */
    public ResponseAssert<R> hasDetail(String text) {
        String found = member("detail");
        if (!found.contains(text)) {
            failWithMessage("expected a detail with \"%s\" but was \"%s\"", text, found);
        }
        return this;
    }

    /** Returns a member of the problem, or an empty text if the body has none. */
    private String member(String name) {
        isNotNull();
        Matcher member = Pattern.compile("\"" + name + "\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"")
                .matcher(body.apply(actual));
        return member.find() ? member.group(1).replaceAll("\\\\(.)", "$1") : "";
    }

    /**
     * Verifies that the response discloses no quota.
     *
     * @return this assertion
     */
    public ResponseAssert<R> hasNoQuota() {
        isNotNull();
        for (String name : List.of("RateLimit", "RateLimit-Policy")) {
            String found = fields.apply(actual, name);
            if (!found.isEmpty()) {
                failWithMessage("expected no %s but was \"%s\"", name, found);
            }
        }
        return this;
    }

    private ResponseAssert<R> hasParameter(String field, String limit, String parameter, long expected) {
        isNotNull();
        Optional<Long> found = quotas(field).stream()
                .filter(quota -> quota.name().equals(limit))
                .findFirst()
                .flatMap(quota -> quota.number(parameter));
        if (!found.equals(Optional.of(expected))) {
            failWithMessage(
                    "expected %s: \"%s\" with %s=%s but was \"%s\"",
                    field, limit, parameter, expected, fields.apply(actual, field));
        }
        return this;
    }

    private List<QuotaField> quotas(String field) {
        return QuotaField.parse(fields.apply(actual, field));
    }
}
