// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.web;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.interceptor.rest.QuotaResponse;
import io.weir.ratelimit.interceptor.servlet.ServletCall;
import io.weir.ratelimit.spi.CallContext;
import jakarta.servlet.Servlet;
import jakarta.servlet.ServletConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The servlet of the quota resource. It reads the quotas of its caller, and changes nothing. */
final class QuotaServlet implements Servlet {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");
    private static final String METHODS = "GET, HEAD, OPTIONS";

    private final Supplier<CallerQuotas> quotas;
    private final AtomicBoolean failed = new AtomicBoolean();
    private @Nullable ServletConfig config;

    /**
     * Creates the servlet.
     *
     * @param quotas returns the quotas of callers; called for each request, because some servers create the servlet before the
     *     deployment has ended
     */
    QuotaServlet(Supplier<CallerQuotas> quotas) {
        this.quotas = quotas;
    }

    @Override
    public void service(ServletRequest anyRequest, ServletResponse anyResponse) throws IOException {
        HttpServletRequest request = (HttpServletRequest) anyRequest;
        HttpServletResponse response = (HttpServletResponse) anyResponse;
        boolean withBody = request.getMethod().equals("GET");
        if (!withBody && !request.getMethod().equals("HEAD")) {
            response.setHeader("Allow", METHODS);
            response.setStatus(
                    request.getMethod().equals("OPTIONS")
                            ? HttpServletResponse.SC_NO_CONTENT
                            : HttpServletResponse.SC_METHOD_NOT_ALLOWED);
            return;
        }
        try {
            respond(request, response, withBody);
        } catch (RateLimitUnavailableException e) {
            send(QuotaResponse.unavailable(e.retryAfter()), response, withBody);
        } catch (RuntimeException e) {
            if (failed.compareAndSet(false, true)) {
                MESSAGES.log(LOG, e, "WEIR-323");
            }
            response.sendError(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
        }
    }

    private void respond(HttpServletRequest request, HttpServletResponse response, boolean withBody)
            throws IOException {
        CallerQuotas known = quotas.get();
        CallContext caller = new ServletCall(request, Optional.ofNullable(request.getRemoteAddr()));
        boolean hasCredentials = request.getUserPrincipal() == null && request.getHeader("Authorization") != null;
        Optional<Decision.Rejected> rejection = known.rejection(caller, hasCredentials);
        if (rejection.isPresent()) {
            send(QuotaResponse.rejected(rejection.get()), response, withBody);
            return;
        }
        if (hasCredentials) {
            if (!isAuthenticated(request, response)) {
                return;
            }
            known.loginNotRejected(caller);
        }
        send(QuotaResponse.of(known.of(caller)), response, withBody);
    }

    /**
     * Authenticates a caller with credentials, because servers do not do so for a path without a constraint.
     *
     * @return false if the server has rejected the credentials and written the response
     */
    private static boolean isAuthenticated(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        try {
            if (request.authenticate(response)) {
                return true;
            }
        } catch (ServletException | RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "The server did not authenticate a caller of the quota resource.", e);
        }
        // A server without a login leaves the response as it is.
        return !response.isCommitted() && response.getStatus() == HttpServletResponse.SC_OK;
    }

    private static void send(QuotaResponse answer, HttpServletResponse response, boolean withBody) throws IOException {
        answer.retryAfter().ifPresent(seconds -> response.setHeader("Retry-After", Long.toString(seconds)));
        byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
        response.setStatus(answer.status());
        response.setHeader("Cache-Control", "no-store");
        response.setHeader("X-Content-Type-Options", "nosniff");
        response.setContentType(answer.mediaType());
        response.setContentLength(bytes.length);
        if (withBody) {
            response.getOutputStream().write(bytes);
        }
    }

    @Override
    public void init(ServletConfig given) {
        config = given;
    }

    @Override
    public @Nullable ServletConfig getServletConfig() {
        return config;
    }

    @Override
    public String getServletInfo() {
        return "the quota resource of Weir";
    }

    @Override
    public void destroy() {}
}
