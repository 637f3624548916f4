// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import io.weir.ratelimit.spi.RateLimitBackend;

/** The capabilities of a backend that an operation of the application needs. */
public final class Capabilities {
    private Capabilities() {}

    /** Returns a capability of a backend. Throws an {@link UnsupportedOperationException} if the backend does not have it. */
    public static <C> C require(RateLimitBackend backend, Class<C> type) {
        return backend.capability(type)
                .orElseThrow(() -> new UnsupportedOperationException(
                        "the backend " + backend.name() + " does not implement " + type.getSimpleName()));
    }
}
