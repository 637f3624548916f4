// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.core.response.JsonText;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A response of the console.
 *
 * @param headers the header fields in addition to the common ones
 * @param body the body, empty if there is none
 */
record ConsoleResponse(int status, Map<String, String> headers, String body) {
    /** The common header fields: the page loads no external resource, cannot be framed and is not cached. */
    private static final Map<String, String> COMMON_HEADERS = Map.of(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
                    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "X-Frame-Options",
            "DENY",
            "X-Content-Type-Options",
            "nosniff",
            "Referrer-Policy",
            "no-referrer",
            "Cache-Control",
            "no-store",
            "Cross-Origin-Opener-Policy",
            "same-origin",
            "Cross-Origin-Resource-Policy",
            "same-origin");

    static ConsoleResponse of(String type, String body) {
        return new ConsoleResponse(200, Map.of("Content-Type", type + ";charset=UTF-8"), body);
    }

    static ConsoleResponse json(int status, Object value) {
        return new ConsoleResponse(status, of("application/json", "").headers, JsonText.of(value));
    }

    /** Returns an error with a message for the operator. */
    static ConsoleResponse problem(int status, String message) {
        return json(status, Map.of("message", message));
    }

    /** Returns a redirect to a relative location, because a proxy can serve the page under another host and scheme. */
    static ConsoleResponse movedTo(String location) {
        return new ConsoleResponse(302, Map.of("Location", location), "");
    }

    static ConsoleResponse allows(int status, String methods) {
        return new ConsoleResponse(status, Map.of("Allow", methods), "");
    }

    void sendTo(HttpServletResponse response, boolean withBody) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        COMMON_HEADERS.forEach(response::setHeader);
        headers.forEach(response::setHeader);
        if (status != HttpServletResponse.SC_NO_CONTENT) {
            response.setContentLength(bytes.length);
        }
        if (withBody && bytes.length > 0) {
            response.getOutputStream().write(bytes);
        }
    }
}
