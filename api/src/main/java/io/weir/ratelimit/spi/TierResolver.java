// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Identity;
import java.util.Optional;

/**
 * A resolver for the tier of a caller, such as {@code premium}. A CDI bean of this type with a name ({@code @Named}) applies to the
 * policies whose property {@code ratelimit.policies.<p>.tier} is that name.
 *
 * <p>The resolver has two steps. {@link #caller} reads from the call who the caller is. {@link #tier} looks up the tier of that caller, for
 * example in a database.
 *
 * <p>Tiers, including empty ones, are cached for {@code ratelimit.reload-interval} and up to 10,000 callers of each resolver. A call of a
 * caller that is not cached waits for the first result, at most {@code ratelimit.redis.deadline}. Later results are fetched in the
 * background while the previous result applies. If the look-up throws an exception or returns null, the previous result still applies.
 *
 * <p>The limits of the policy itself apply if the caller has no tier, if the policy does not define it, or if it is not known yet.
 *
 * <p>Implementations must be thread-safe.
 */
@FunctionalInterface
public interface TierResolver {
    /**
     * Looks up the tier of a caller. Up to eight look-ups run at the same time, at most one per caller. They run on threads of the
     * container's executor and never on the thread of a request. No request scope and no transaction is active.
     *
     * @param caller the result of {@link #caller}; for a secret such as an API key, the secret itself
     * @return the name of the tier; empty if the caller has none
     */
    Optional<String> tier(Identity caller);

    /**
     * Determines the caller on whom the tier depends; by default, the authenticated user. This method is called once per charge on the
     * thread of the call, where the request scope is active if there is one. It must only read the call and must not wait, because no
     * deadline can end it. If eight calls of it hang, other calls have no tier until one of them returns.
     *
     * @param call the properties of the call
     * @return the caller; empty if the call has no tier
     */
    default Optional<Identity> caller(CallContext call) {
        return call.principal().filter(name -> !name.isBlank()).map(Identity::principal);
    }
}
