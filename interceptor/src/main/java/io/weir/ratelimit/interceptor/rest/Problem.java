// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

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
record Problem(
        int status,
        String title,
        String type,
        String error,
        String detail,
        List<String> violated,
        OptionalLong retryAfter,
        Optional<String> help) {

    Problem {
        violated = List.copyOf(violated);
    }

    /** Returns a text for users: the reason and the wait. */
    String message() {
        return retryAfter.isEmpty()
                ? detail
                : detail + " Try again in " + retryAfter.getAsLong()
                        + (retryAfter.getAsLong() == 1 ? " second." : " seconds.");
    }
}
