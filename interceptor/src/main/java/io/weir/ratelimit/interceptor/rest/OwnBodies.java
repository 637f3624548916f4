// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.rest;

import io.weir.ratelimit.spi.RejectionResponder;
import jakarta.ws.rs.core.MediaType;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** The bodies that the application writes for refusals. What fails in it is said once, and the client hears of the refusal anyway. */
final class OwnBodies {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final Optional<RejectionResponder> responder;
    private final AtomicBoolean failed = new AtomicBoolean();

    OwnBodies(Optional<RejectionResponder> responder) {
        this.responder = responder;
    }

    /** The body for a refusal, empty if the application has none. */
    Optional<RejectionResponder.Body> body(RejectionResponder.Rejection rejection) {
        if (responder.isEmpty()) {
            return Optional.empty();
        }
        try {
            Optional<RejectionResponder.Body> body = responder.get().respond(rejection);
            body.ifPresent(own -> MediaType.valueOf(own.mediaType()));
            return body;
        } catch (OutOfMemoryError | InternalError e) {
            throw e;
        } catch (Throwable e) {
            if (failed.compareAndSet(false, true)) {
                LOG.log(
                        Level.WARNING,
                        "WEIR-318 the responder " + responder.get().getClass().getName()
                                + " failed, Weir's own body is sent; said once",
                        e);
            }
            return Optional.empty();
        }
    }
}
