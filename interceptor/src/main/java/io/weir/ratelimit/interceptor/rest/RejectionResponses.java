// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.response.QuotaView;
import io.weir.ratelimit.core.response.RejectionProblems;
import io.weir.ratelimit.runtime.Entry;
import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.ws.rs.core.CacheControl;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * The responses to rejected calls, with a body in the format that the client accepts (by default RFC 9457).
 *
 * <p>The status is 429 for an exhausted quota (RFC 6585), and 503 if the backend is unavailable. {@link QuotaFields} adds the header
 * fields with quotas. A body is bytes, because a writer of the application can change how a text or an object is written.
 */
final class RejectionResponses {
    /** Fields that shared caches prefer to {@code Cache-Control} (RFC 9213, and Edge Architecture 1.0). */
    private static final List<String> FIELDS_OF_SHARED_CACHES = List.of("CDN-Cache-Control", "Surrogate-Control");

    private static final Pattern OF_ONE_CALLER = Pattern.compile("(?i)(?:^|[,\\s])(?:no-store|private)(?=$|[,\\s])");

    private final RejectionProblems problems;
    private final Optional<RejectionResponder> responder;
    private final AtomicBoolean failed = new AtomicBoolean();

    /**
     * The properties of a request that determine the response to its rejection: its endpoint, empty if it is unknown, the disclosure of its
     * policies and the accepted media types.
     */
    record Context(String endpoint, boolean minimal, AcceptHeader accept) {}

    /** Creates the responses by the current version of a policy, with the bodies that the application writes. */
    RejectionResponses(Function<String, Optional<Policy>> policies, Optional<RejectionResponder> responder) {
        this.problems = new RejectionProblems(policies);
        this.responder = responder;
    }

    /** Returns whether a policy of a decision has minimal disclosure. */
    boolean isMinimal(Decision decision) {
        return problems.isMinimal(decision);
    }

    /** Returns the response to a rejected request: that of the application's mapper, else that of Weir. */
    Response response(Entry entry, MultivaluedMap<String, String> headers, ApplicationMappers mappers) {
        AcceptHeader accept = AcceptHeader.parse(headers.get(HttpHeaders.ACCEPT));
        if (entry.decision() instanceof Decision.Rejected rejected) {
            boolean minimal =
                    entry.request() != null && entry.request().quotas().areHidden();
            return mappers.response(new RateLimitExceededException(rejected))
                    .orElseGet(
                            () -> exceeded(rejected, new Context(entry.binding().endpoint(), minimal, accept)));
        }
        Decision.Degraded degraded = (Decision.Degraded) entry.decision();
        return mappers.response(new RateLimitUnavailableException(degraded.reason(), degraded.retryAfter()))
                .orElseGet(() -> unavailable(degraded.retryAfter(), accept));
    }

    Response exceeded(Decision.Rejected decision, Context request) {
        RejectionProblems.Problem problem =
                request.minimal() ? RejectionProblems.generic(decision) : problems.named(decision);
        Response.ResponseBuilder response = started(problem);
        Optional<RejectionResponder.Body> own = own(new RejectionResponder.Rejection(
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

    /** Returns the body of the application, empty if it has none. Its first failure is logged, and the client receives the default body. */
    Optional<RejectionResponder.Body> own(RejectionResponder.Rejection rejection) {
        if (responder.isEmpty()) {
            return Optional.empty();
        }
        try {
            Optional<RejectionResponder.Body> body = responder.get().respond(rejection);
            body.ifPresent(own -> charset(MediaType.valueOf(own.mediaType())));
            return body;
        } catch (OutOfMemoryError | InternalError e) {
            throw e;
        } catch (Throwable e) {
            if (failed.compareAndSet(false, true)) {
                MESSAGES.log(e, "WEIR-318", responder.get().getClass().getName());
            }
            return Optional.empty();
        }
    }

    Response unavailable(Duration retryAfter, AcceptHeader accept) {
        RejectionProblems.Problem problem = RejectionProblems.unavailable(retryAfter);
        return ended(started(problem), problem, accept);
    }

    /**
     * Adds the missing header fields to a response that the application has created for a rejected call. A cache must not answer other
     * callers with the rejection of one, also if a filter lets caches store all responses.
     */
    static void complete(Decision decision, MultivaluedMap<String, Object> fields) {
        OptionalLong wait = decision instanceof Decision.Rejected rejected
                ? QuotaView.waitSeconds(rejected)
                : OptionalLong.of(RejectionProblems.unavailableSeconds(
                        decision instanceof Decision.Degraded degraded ? degraded.retryAfter() : Duration.ZERO));
        if (wait.isPresent() && !fields.containsKey(HttpHeaders.RETRY_AFTER)) {
            fields.putSingle(HttpHeaders.RETRY_AFTER, wait.getAsLong());
        }
        if (fields.getOrDefault(HttpHeaders.CACHE_CONTROL, List.of()).stream()
                .noneMatch(RejectionResponses::isOfOneCaller)) {
            fields.putSingle(HttpHeaders.CACHE_CONTROL, "no-store");
        }
        FIELDS_OF_SHARED_CACHES.forEach(fields::remove);
    }

    /** Tests whether a value of {@code Cache-Control}, a text or a {@code CacheControl}, excludes shared caches. */
    private static boolean isOfOneCaller(Object value) {
        return value instanceof CacheControl control
                ? control.isNoStore()
                        || (control.isPrivate() && control.getPrivateFields().isEmpty())
                : OF_ONE_CALLER.matcher(String.valueOf(value)).find();
    }

    private static Response.ResponseBuilder started(RejectionProblems.Problem problem) {
        Response.ResponseBuilder response = Response.status(problem.status(), problem.title())
                .header(HttpHeaders.CACHE_CONTROL, "no-store")
                .header(HttpHeaders.VARY, HttpHeaders.ACCEPT);
        problem.retryAfter().ifPresent(seconds -> response.header(HttpHeaders.RETRY_AFTER, seconds));
        problem.help().ifPresent(help -> response.header(HttpHeaders.LINK, "<" + help + ">; rel=\"help\""));
        return response;
    }

    private static Response ended(
            Response.ResponseBuilder response, RejectionProblems.Problem problem, AcceptHeader accept) {
        BodyFormat format = BodyFormat.acceptedBy(accept);
        return response.type(format.mediaType())
                .entity(format.render(problem).getBytes(StandardCharsets.UTF_8))
                .build();
    }

    /** Returns the charset of a body. Throws an {@link IllegalArgumentException} if the platform does not have it. */
    private static Charset charset(MediaType type) {
        return Charset.forName(type.getParameters().getOrDefault(MediaType.CHARSET_PARAMETER, "UTF-8"));
    }
}
