// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import jakarta.ws.rs.core.Response;
import java.net.URI;

/** The outcomes of requests. */
final class Outcome {
    private Outcome() {}

    /** Returns a response with a status, or throws an exception. */
    static Response of(String how) {
        return switch (how) {
            case "mapped" -> throw new Mapped();
            case "unmapped" -> throw new IllegalStateException("on purpose");
            case "302" -> Response.status(302).location(URI.create("/")).build();
            default -> Response.status(Integer.parseInt(how)).build();
        };
    }
}
