// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

/** A listener for failures of the resolvers of the application. */
@FunctionalInterface
public interface ResolverListener {
    /** The kind of a resolver. */
    enum Kind {
        /** A {@link io.weir.ratelimit.spi.KeyResolver}. */
        KEY,
        /** A {@link io.weir.ratelimit.spi.TierResolver}. */
        TIER
    }

    /** Receives a failure. */
    void failed(Kind kind, String resolver, SourceListener.Failure failure);
}
