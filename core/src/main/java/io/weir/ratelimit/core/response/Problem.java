// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.response;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("type", type);
        json.put("title", title);
        json.put("status", status);
        json.put("detail", detail);
        if (!violated.isEmpty()) {
            json.put("violated-policies", violated);
        }
        json.put("error", error);
        retryAfter.ifPresent(seconds -> json.put("retry_after", seconds));
        json.put("message", message());
        help.ifPresent(uri -> json.put("help", uri));
        return JsonText.of(json);
    }
}
