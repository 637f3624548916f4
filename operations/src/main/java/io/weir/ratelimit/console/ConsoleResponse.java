// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.core.response.JsonText;
import io.weir.ratelimit.runtime.HttpResource.Answer;
import java.util.HashMap;
import java.util.Map;

/** The answers of the console. */
final class ConsoleResponse {
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

    private ConsoleResponse() {}

    private static Answer answer(int status, String field, String value, String body) {
        Map<String, String> headers = new HashMap<>(COMMON_HEADERS);
        headers.put(field, value);
        return new Answer(status, Map.copyOf(headers), body);
    }

    static Answer of(String type, String body) {
        return answer(200, "Content-Type", type + ";charset=UTF-8", body);
    }

    static Answer json(int status, Object value) {
        return answer(status, "Content-Type", "application/json;charset=UTF-8", JsonText.of(value));
    }

    /** Returns an error with a message for the operator. */
    static Answer problem(int status, String message) {
        return json(status, Map.of("message", message));
    }

    /** Returns a redirect to a relative location, because a proxy can serve the page under another host and scheme. */
    static Answer movedTo(String location) {
        return answer(302, "Location", location, "");
    }

    static Answer allows(int status, String methods) {
        return answer(status, "Allow", methods, "");
    }

    /** Returns the rejection of a login; some others of its address may be pending. */
    static Answer tooManyLogins(boolean pending, long seconds) {
        Answer problem = problem(
                429,
                "Too many logins of this address "
                        + (pending ? "are checked at once or were rejected" : "were rejected")
                        + ". Try again later.");
        Map<String, String> headers = new HashMap<>(problem.headers());
        headers.put("Retry-After", Long.toString(seconds));
        return new Answer(problem.status(), headers, problem.body());
    }
}
