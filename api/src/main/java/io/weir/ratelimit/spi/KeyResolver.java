// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Identity;
import java.util.Optional;

/**
 * A term of a key expression that application code resolves, such as the tenant of a call.
 *
 * <p>A CDI bean of this type is a term under its name ({@code @Named}). The name begins with a letter or {@code _}, followed by any of
 * {@code A-Z a-z 0-9 . _ -}. The bean is called once per decision and policy. If it returns empty or null or throws an exception, the term
 * does not resolve, and the next alternative of the key expression applies.
 *
 * <p>The bean is called on the thread of the call, where the request scope is active if there is one, because it reads the call. It must
 * not wait, for example for a database, because no deadline can end it. If eight calls of the bean hang, the term does not resolve for
 * other calls until one of them returns; before that, a call waits at most {@code ratelimit.redis.deadline}.
 *
 * <p>Implementations must be thread-safe.
 */
@FunctionalInterface
public interface KeyResolver {
    /**
     * Resolves the key of a call.
     *
     * @param call the properties of the call
     * @return the key; empty if the term does not resolve
     */
    Optional<Identity> resolve(CallContext call);
}
