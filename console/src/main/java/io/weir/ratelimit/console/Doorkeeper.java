// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.interceptor.operate.Access;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Lets in whom configuration names, with the container's own login. */
final class Doorkeeper {
    private final Audit audit;

    Doorkeeper(Audit audit) {
        this.audit = audit;
    }

    /** Whether the request may go on. If not, it has been answered. */
    boolean admits(Access access, HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (!access.enabled()) {
            response.sendError(HttpServletResponse.SC_NOT_FOUND);
            return false;
        }
        if (access.role().isPresent()) {
            return hasRole(access.role().get(), request, response);
        }
        return access.open()
                || refuses(
                        "This page is closed. ratelimit.console.role names the role of those who may see it, and is not set; "
                                + "ratelimit.console.open=true shows it to everybody, for demos.",
                        request,
                        response);
    }

    private boolean hasRole(String role, HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getUserPrincipal() == null && !logsIn(request, response)) {
            if (!response.isCommitted() && response.getStatus() == HttpServletResponse.SC_OK) {
                return refuses(
                        "This page needs a user with the role that ratelimit.console.role names, "
                                + "and the application has no way to log in.",
                        request,
                        response);
            }
            audit.refusedEntry("nobody is logged in");
            return false;
        }
        return request.isUserInRole(role)
                || refuses(
                        "This page needs the role that ratelimit.console.role names, and you do not have it.",
                        request,
                        response);
    }

    /** By the container's own mechanism, which may have answered with a challenge if this is false. */
    private static boolean logsIn(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            return request.authenticate(response);
        } catch (ServletException | RuntimeException e) {
            // What servers do that have no mechanism for the application, or wrong credentials in hand.
            return false;
        }
    }

    private boolean refuses(String message, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        audit.refusedEntry("no role, or none is configured");
        Answer.problem(HttpServletResponse.SC_FORBIDDEN, message)
                .sendTo(response, !request.getMethod().equals("HEAD"));
        return false;
    }
}
