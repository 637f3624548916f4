// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.Optional;

/**
 * A resolver for the tier of a caller, such as {@code premium}. A CDI bean of this type with a name ({@code @Named}) applies to the
 * policies whose property {@code ratelimit.policies.<p>.tier} is that name.
 *
 * <p>The resolver is called once per charge on the thread of the call, which waits for it; cache the result of a lookup. The limits of
 * the policy itself apply if the caller has no tier or if the policy does not define it. They also apply if the resolver fails.
 */
@FunctionalInterface
public interface TierResolver {
    /**
     * Returns the tier of a caller.
     *
     * @param call the properties of the call
     * @return the name of the tier; empty if the caller has none
     */
    Optional<String> tier(CallContext call);
}
