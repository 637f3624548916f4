// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.spi.CallContext;
import java.util.Optional;

/** Selects the tier of a call: by a key expression, or by a resolver of the application. */
@FunctionalInterface
public interface TierSelector {
    /** Returns the tier of the caller; empty if none is known. It waits at most for the deadline of a look-up. */
    Optional<String> tier(CallContext call);

    /** Tests whether the application selects the tier, with code that can block. */
    default boolean callsResolver() {
        return false;
    }
}
