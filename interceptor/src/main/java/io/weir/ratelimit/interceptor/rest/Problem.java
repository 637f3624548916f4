// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What an answer to a call that may not go on says, in whatever form.
 *
 * @param status the status
 * @param title its reason phrase
 * @param type the problem type, a URI
 * @param error a word for programs
 * @param detail what happened, a sentence
 * @param violated the policies that refused; empty if there is none, or none that a client is told
 * @param retryAfter seconds to wait, empty if no wait helps
 * @param help where clients read about the limit
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

    /** What happened and when to come back, for people. */
    String message() {
        return retryAfter.isEmpty()
                ? detail
                : detail + " Try again in " + retryAfter.getAsLong()
                        + (retryAfter.getAsLong() == 1 ? " second." : " seconds.");
    }
}
