// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.ws.rs.core.MediaType;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** The bodies that the application writes for rejections. The first failure is logged, and the client receives the default body. */
final class CustomBodies {
    private final Optional<RejectionResponder> responder;
    private final AtomicBoolean failed = new AtomicBoolean();

    CustomBodies(Optional<RejectionResponder> responder) {
        this.responder = responder;
    }

    /** Returns the body for a rejection, empty if the application has none. */
    Optional<RejectionResponder.Body> body(RejectionResponder.Rejection rejection) {
        if (responder.isEmpty()) {
            return Optional.empty();
        }
        try {
            Optional<RejectionResponder.Body> body = responder.get().respond(rejection);
            body.ifPresent(own -> RejectionResponses.charset(MediaType.valueOf(own.mediaType())));
            return body;
        } catch (OutOfMemoryError | InternalError e) {
            throw e;
        } catch (Throwable e) {
            if (failed.compareAndSet(false, true)) {
                MESSAGES.log(e, "WEIR-318", responder.get().getClass().getName());
            }
            return Optional.empty();
        }
    }
}
