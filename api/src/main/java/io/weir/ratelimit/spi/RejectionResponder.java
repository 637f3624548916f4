// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A writer for the body of a 429 response. If the application has a CDI bean of this type, its body replaces that of Weir. More than one
 * bean is a deployment error.
 *
 * <p>Weir sets the status and the header fields. The bean is called on the thread of the request for each rejection that Weir answers, so
 * it must be fast. If it throws an exception or returns null, Weir logs this once and sends its own body.
 */
@FunctionalInterface
public interface RejectionResponder {
    /**
     * Returns the body of a response.
     *
     * @param rejection the rejected call and the media types that the client accepts
     * @return the body; empty for the body of Weir
     */
    Optional<Body> respond(Rejection rejection);

    /**
     * A rejected call.
     *
     * @param endpoint {@code Class.method}, or the path of the path rule that limits the call; empty if application code threw the
     *     exception
     * @param decision the decision with the quotas of all policies, including policies with {@code disclosure=minimal}. The responder
     *     decides which of them to disclose
     * @param retryAfterSeconds the value of {@code Retry-After}, 1 or more; empty if no wait helps
     * @param acceptedMediaTypes the media ranges of the {@code Accept} header without parameters, in descending order of preference;
     *     empty if the client accepts everything
     */
    record Rejection(
            String endpoint,
            Decision.Rejected decision,
            OptionalLong retryAfterSeconds,
            List<String> acceptedMediaTypes) {
        /** Copies the list and checks that no component is null. */
        public Rejection {
            Objects.requireNonNull(endpoint, "endpoint");
            Objects.requireNonNull(decision, "decision");
            Objects.requireNonNull(retryAfterSeconds, "retryAfterSeconds");
            acceptedMediaTypes = List.copyOf(acceptedMediaTypes);
        }
    }

    /**
     * The body of a response.
     *
     * @param mediaType the {@code Content-Type}, printable ASCII such as {@code application/vnd.shop.error+json}
     * @param text the content
     */
    record Body(String mediaType, String text) {
        /** Checks that no component is null and that the media type is a valid value of a header field. */
        public Body {
            Objects.requireNonNull(text, "text");
            if (!mediaType.matches("[!-~]+/[ -~]+")) {
                throw new IllegalArgumentException("the media type must be type/subtype of printable ASCII");
            }
        }
    }
}
