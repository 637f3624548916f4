// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Writes the body of a 429 in place of Weir's. A CDI bean of this type takes part by being there; an application has one at most.
 *
 * <p>The status and the header fields stay Weir's. Called on the thread of the request for each refusal that Weir answers, so it
 * must be quick. One that throws or answers null is logged once, and Weir's own body goes out.
 */
@FunctionalInterface
public interface RejectionResponder {
    /**
     * Writes a body.
     *
     * @param rejection what was refused, and what the client accepts
     * @return the body, empty for Weir's own
     */
    Optional<Body> respond(Rejection rejection);

    /**
     * A call that was refused.
     *
     * @param endpoint {@code Class.method}, or the path of the rule that limits it; empty where code threw the refusal
     * @param decision the decision with all that its limits said, also under policies that tell clients nothing: what of it the
     *     body tells is the responder's to decide
     * @param retryAfterSeconds the value of {@code Retry-After}, 1 or more; empty if no wait helps
     * @param acceptable the media ranges of the request's {@code Accept}, without parameters, the most wanted first; empty if the
     *     client takes anything
     */
    record Rejection(
            String endpoint, Decision.Rejected decision, OptionalLong retryAfterSeconds, List<String> acceptable) {
        /** Copies the list and checks that no component is null. */
        public Rejection {
            Objects.requireNonNull(endpoint, "endpoint");
            Objects.requireNonNull(decision, "decision");
            Objects.requireNonNull(retryAfterSeconds, "retryAfterSeconds");
            acceptable = List.copyOf(acceptable);
        }
    }

    /**
     * The body of an answer.
     *
     * @param mediaType its {@code Content-Type}, printable ASCII such as {@code application/vnd.shop.error+json}
     * @param text the text itself
     */
    record Body(String mediaType, String text) {
        /** Checks that no component is null and that the media type can stand in a header field. */
        public Body {
            Objects.requireNonNull(text, "text");
            if (!mediaType.matches("[!-~]+/[ -~]+")) {
                throw new IllegalArgumentException("the media type must be type/subtype of printable ASCII");
            }
        }
    }
}
