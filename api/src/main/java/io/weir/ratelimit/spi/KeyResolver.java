// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Identity;
import java.util.Optional;

/** Says who makes a call, such as its user or its address. One term of a key expression. Called once per decision. */
@FunctionalInterface
public interface KeyResolver {
    /**
     * Resolves the identity of a call.
     *
     * @param call what is known about the call
     * @return the identity, empty if the call has none of this kind
     */
    Optional<Identity> resolve(CallContext call);
}
