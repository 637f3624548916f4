// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.engine.LoginAttempts;
import io.weir.ratelimit.operations.Access;
import io.weir.ratelimit.spi.CallContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Restricts the console to the configured role, by the authentication of the container. */
final class AccessCheck {
    private static final int TOO_MANY_REQUESTS = 429;

    private final Audit audit;
    private final Supplier<LoginAttempts> logins;

    AccessCheck(Audit audit, Supplier<LoginAttempts> logins) {
        this.audit = audit;
        this.logins = logins;
    }

    /** Returns whether the request may proceed. If not, the response is already written. */
    boolean allows(Access access, HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!access.enabled()) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return false;
        }
        if (access.role().isPresent()) {
            return hasRole(access.role().get(), "ratelimit.console.role", request, response);
        }
        return access.open()
                || rejects(
                        "The console is closed. Set ratelimit.console.role to the role of its users. "
                                + "For demonstrations, ratelimit.console.open=true opens it to everyone.",
                        request,
                        response);
    }

    /** Returns whether the user of a request, which is allowed otherwise, may make changes. If not, the response is already written. */
    boolean allowsChanges(Optional<String> role, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        return role.isPresent()
                ? hasRole(role.get(), "ratelimit.changes.role", request, response)
                : rejects("Set ratelimit.changes.role to the role of the users who make changes.", request, response);
    }

    private boolean hasRole(String role, String property, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (request.getUserPrincipal() == null && !logsIn(request, response)) {
            if (!response.isCommitted() && response.getStatus() == HttpServletResponse.SC_OK) {
                return rejects(
                        "This requires a user with the role of " + property + ", but the application has no login.",
                        request,
                        response);
            }
            audit.rejectedAccess(
                    response.getStatus() == TOO_MANY_REQUESTS
                            ? "too many logins of an address were rejected"
                            : "no user is logged in");
            return false;
        }
        return request.isUserInRole(role)
                || rejects("This requires the role of " + property + ", which you do not have.", request, response);
    }

    /** Authenticates a request. Limits the rejected credentials of an address, because Open Liberty accepts any number of them. */
    private boolean logsIn(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getHeader("Authorization") == null) {
            return authenticates(request, response);
        }
        LoginAttempts attempts = logins.get();
        CallContext caller = new Client(request);
        Optional<Decision.Rejected> rejection = attempts.begin(caller);
        if (rejection.isPresent()) {
            long seconds = rejection.get().retryAfter().orElse(Duration.ZERO).toSeconds();
            response.setHeader("Retry-After", Long.toString(Math.max(1, seconds)));
            ConsoleResponse.problem(
                            TOO_MANY_REQUESTS, "Too many logins of this address were rejected. Try again later.")
                    .sendTo(response, !request.getMethod().equals("HEAD"));
            return false;
        }
        boolean succeeded = false;
        try {
            succeeded = authenticates(request, response);
            return succeeded;
        } finally {
            attempts.end(caller, succeeded);
        }
    }

    /** The caller of a request, of which only the address counts. */
    private record Client(HttpServletRequest request) implements CallContext {
        @Override
        public Optional<String> peerAddress() {
            return Optional.ofNullable(request.getRemoteAddr());
        }

        @Override
        public Optional<String> principal() {
            return Optional.empty();
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.ofNullable(request.getHeader(name));
        }

        @Override
        public List<String> headerLines(String name) {
            return Collections.list(request.getHeaders(name));
        }

        @Override
        public Optional<Object> argument(String name) {
            return Optional.empty();
        }
    }

    /** Authenticates by the mechanism of the container, which can have written a challenge if this returns false. */
    private static boolean authenticates(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            return request.authenticate(response);
        } catch (ServletException | RuntimeException e) {
            // Servers throw this if the application has no mechanism, or for invalid credentials.
            return false;
        }
    }

    private boolean rejects(String message, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        audit.rejectedAccess("the role is missing or not configured");
        ConsoleResponse.problem(HttpServletResponse.SC_FORBIDDEN, message)
                .sendTo(response, !request.getMethod().equals("HEAD"));
        return false;
    }
}
