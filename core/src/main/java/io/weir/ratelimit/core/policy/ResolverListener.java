// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

/** A listener for failures of the resolvers of the application. */
@FunctionalInterface
public interface ResolverListener {
    enum Kind {
        KEY,
        TIER
    }

    void failed(Kind kind, String resolver, SourceListener.Failure failure);
}
