// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * What a request is answered.
 *
 * @param status the status code
 * @param headers header fields beyond those of every answer
 * @param body the body, empty if there is none
 */
record Answer(int status, Map<String, String> headers, String body) {
    /** Nothing from elsewhere is loaded, nothing can frame the page, nothing is kept. */
    private static final Map<String, String> ALWAYS = Map.of(
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

    static Answer of(String type, String body) {
        return new Answer(200, Map.of("Content-Type", type + ";charset=UTF-8"), body);
    }

    static Answer json(int status, Object value) {
        return new Answer(status, of("application/json", "").headers, JsonText.of(value));
    }

    /** What a person reads, of a request that came to nothing. */
    static Answer problem(int status, String message) {
        return json(status, Map.of("message", message));
    }

    /** The address with a slash at its end, relative: a proxy in front may serve it under another host and scheme. */
    static Answer movedTo(String location) {
        return new Answer(302, Map.of("Location", location), "");
    }

    static Answer allows(int status, String methods) {
        return new Answer(status, Map.of("Allow", methods), "");
    }

    void sendTo(HttpServletResponse response, boolean withBody) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        response.setStatus(status);
        ALWAYS.forEach(response::setHeader);
        headers.forEach(response::setHeader);
        if (status != HttpServletResponse.SC_NO_CONTENT) {
            response.setContentLength(bytes.length);
        }
        if (withBody && bytes.length > 0) {
            response.getOutputStream().write(bytes);
        }
    }
}
