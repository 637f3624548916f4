// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Identity;
import java.util.Optional;

/**
 * Says who makes a call, such as its user or its address. One term of a key expression: a bean of this type is a term by its name,
 * which begins with a letter or {@code _} and goes on with {@code A-Z a-z 0-9 . _ -}. Called once per decision and policy.
 *
 * <p>A call for which it throws or answers null has no identity of this kind: the next alternative of the expression counts.
 */
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
