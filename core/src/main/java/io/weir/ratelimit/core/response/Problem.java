// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The content of the response to a rejected call, independent of its format.
 *
 * @param title the reason phrase of the status
 * @param error the error code for programs
 * @param detail the reason for the rejection, a sentence
 * @param violated the names of the limits that rejected the call; empty if there are none, or if they are not disclosed
 * @param retryAfter the seconds to wait, empty if no wait helps
 * @param help the URI of the documentation of the limit
 */
public record Problem(
        int status,
        String title,
        String type,
        String error,
        String detail,
        List<String> violated,
        OptionalLong retryAfter,
        Optional<String> help) {

    /** Copies the list. */
    public Problem {
        violated = List.copyOf(violated);
    }

    /** Returns a text for users: the reason and the wait. */
    public String message() {
        return retryAfter.isEmpty()
                ? detail
                : detail + " Try again in " + retryAfter.getAsLong()
                        + (retryAfter.getAsLong() == 1 ? " second." : " seconds.");
    }

    /** Returns the problem as a JSON object (RFC 9457). */
    public String json() {
        JsonObject json = new JsonObject()
                .with("type", type)
                .with("title", title)
                .with("status", status)
                .with("detail", detail);
        if (!violated.isEmpty()) {
            json.with("violated-policies", violated);
        }
        json.with("error", error);
        retryAfter.ifPresent(seconds -> json.with("retry_after", seconds));
        json.with("message", message());
        help.ifPresent(uri -> json.with("help", uri));
        return json.toString();
    }
}
