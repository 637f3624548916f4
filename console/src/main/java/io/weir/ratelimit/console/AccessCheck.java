// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.core.operations.Access;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;

/** Restricts the console to the configured role, by the authentication of the container. */
final class AccessCheck {
    private final Audit audit;

    AccessCheck(Audit audit) {
        this.audit = audit;
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
        if (request.getUserPrincipal() == null && !authenticates(request, response)) {
            if (!response.isCommitted() && response.getStatus() == HttpServletResponse.SC_OK) {
                return rejects(
                        "This requires a user with the role of " + property + ", but the application has no login.",
                        request,
                        response);
            }
            audit.rejectedAccess("no user is logged in");
            return false;
        }
        return request.isUserInRole(role)
                || rejects("This requires the role of " + property + ", which you do not have.", request, response);
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
