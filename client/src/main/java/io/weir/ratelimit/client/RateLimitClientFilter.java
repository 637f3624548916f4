// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.client.outgoing.OutgoingCalls;
import io.weir.ratelimit.client.outgoing.Permit;
import io.weir.ratelimit.client.outgoing.UpstreamResponse;
import jakarta.annotation.Priority;
import jakarta.ws.rs.ConstrainedTo;
import jakarta.ws.rs.RuntimeType;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.client.ClientRequestContext;
import jakarta.ws.rs.client.ClientRequestFilter;
import jakarta.ws.rs.client.ClientResponseContext;
import jakarta.ws.rs.client.ClientResponseFilter;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A filter that limits the calls of a REST client: it spends permits before a call is sent, and obeys what the upstream answers.
 *
 * <pre>{@code
 * Client client = ClientBuilder.newBuilder().register(new RateLimitClientFilter("partner")).build();
 * }</pre>
 *
 * <p>An interface of MicroProfile REST Client has {@link OutgoingRateLimit}, which registers the filter and names the client. A call that
 * waits for permits holds its thread, unless the host can suspend the calls of its REST client.
 *
 * <p>A rejected call is not sent and fails with a {@link RateLimitExceededException}, or, if the backend is unavailable and the policy does
 * not allow calls without it, with a {@link RateLimitUnavailableException}. Some runtimes wrap the exception in a {@link
 * jakarta.ws.rs.ProcessingException}; {@link #rejection} finds it. {@link #isRejected} finds rejections by the upstream as well.
 *
 * <p>The filter is thread-safe, and works in an application with Weir only.
 */
@ConstrainedTo(RuntimeType.CLIENT)
@Priority(RateLimitClientFilter.LAST)
public class RateLimitClientFilter implements ClientRequestFilter, ClientResponseFilter {
    /** The property of a request, or of the configuration of a client, that names the client. */
    public static final String CLIENT = "io.weir.ratelimit.client";

    /** The property of a request that has the template of its path, such as {@code /accounts/{id}}, for the key {@code path}. */
    public static final String PATH_TEMPLATE = "io.weir.ratelimit.client.path-template";

    /**
     * The property of a request that is {@code true} if the request is a retry, and {@code false} if it is none. Without it, an equal call
     * of the last ten seconds that has not succeeded, or has not ended, makes a request a retry.
     */
    public static final String RETRY = "io.weir.ratelimit.client.retry";

    /**
     * The property of a request that has the {@link Decision} by which application code has already acquired its permits, for example with
     * {@code acquireAsync}. The filter then acquires none, and the code keeps the receipt, also if a pause rejects the call.
     */
    public static final String DECISION = "io.weir.ratelimit.client.decision";

    /** The filter is the last one of a request, so that a call which another filter answers, such as a cache, spends nothing. */
    static final int LAST = Integer.MAX_VALUE;

    private static final String PERMIT = RateLimitClientFilter.class.getName() + ".permit";

    private static final int MAX_CAUSES = 10;
    private static final int FIRST_ERROR = 400;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVICE_UNAVAILABLE = 503;

    private final @Nullable String client;
    private volatile @Nullable CurrentWeir weir;

    /** Creates a filter for a client that {@link OutgoingRateLimit} or the property {@link #CLIENT} names. */
    public RateLimitClientFilter() {
        this.client = null;
    }

    /**
     * Creates a filter for a client.
     *
     * @param client the name of the client
     */
    public RateLimitClientFilter(String client) {
        this.client = Objects.requireNonNull(client, "client");
    }

    /**
     * Returns the rejection that is the cause of an exception of a REST client.
     *
     * @param thrown the exception
     * @return the rejection; empty if the call failed for another reason
     */
    public static Optional<RateLimitExceededException> rejection(Throwable thrown) {
        return causes(thrown)
                .filter(RateLimitExceededException.class::isInstance)
                .map(RateLimitExceededException.class::cast)
                .findFirst();
    }

    /**
     * Tests whether an exception of a REST client means that the upstream takes no calls now, so that a fallback is due. These are a
     * rejection by the own limits, a call that their failure mode rejects, and a response of the upstream with the status 429 or 503, or with
     * another error and {@code Retry-After}.
     *
     * @param thrown the exception
     * @return false if the call failed for another reason
     */
    public static boolean isRejected(Throwable thrown) {
        return causes(thrown)
                .anyMatch(cause -> cause instanceof RateLimitExceededException
                        || cause instanceof RateLimitUnavailableException
                        || (cause instanceof WebApplicationException answered && isRejection(answered.getResponse())));
    }

    private static boolean isRejection(Response response) {
        int status = response.getStatus();
        return status == TOO_MANY_REQUESTS
                || status == SERVICE_UNAVAILABLE
                || (status >= FIRST_ERROR && response.getHeaders().containsKey(HttpHeaders.RETRY_AFTER));
    }

    /** Returns an exception and its causes, which can form a circle. */
    private static Stream<Throwable> causes(Throwable thrown) {
        return Stream.iterate(thrown, Objects::nonNull, Throwable::getCause).limit(MAX_CAUSES);
    }

    @Override
    public void filter(ClientRequestContext request) {
        CurrentWeir found = current();
        OutgoingCalls calls = found.plugin().calls();
        if (calls.isEnabled()) {
            ClientCall call = new ClientCall(request, found.plugin().currentRequest());
            boolean suspended = found.suspension()
                    .suspend(
                            request,
                            threads -> calls.beginAsync(call.toOutgoing(client, call), threads)
                                    .thenApply(permit -> {
                                        request.setProperty(PERMIT, permit);
                                        return () -> calls.abandon(permit);
                                    }));
            if (!suspended) {
                request.setProperty(PERMIT, calls.begin(call.toOutgoing(client, Thread.currentThread())));
            }
        }
    }

    @Override
    public void filter(ClientRequestContext request, ClientResponseContext response) {
        if (request.getProperty(PERMIT) instanceof Permit permit) {
            current()
                    .plugin()
                    .calls()
                    .answered(
                            permit,
                            new UpstreamResponse(
                                    response.getStatus(), name -> ClientCall.lines(response.getHeaders(), name)));
        }
    }

    private CurrentWeir current() {
        CurrentWeir known = weir;
        if (known == null) {
            known = CurrentWeir.find();
            weir = known;
        }
        return known;
    }
}
