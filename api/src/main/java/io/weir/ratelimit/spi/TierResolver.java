// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.Optional;

/**
 * Names the tier of a caller, such as {@code premium}. A CDI bean of this type with a name ({@code @Named}) takes part where {@code
 * ratelimit.policies.<p>.tier} has that name.
 *
 * <p>Called once per charge, on the thread of the call, which waits for it: look-ups belong into a cache. A caller without a tier,
 * with one that the policy does not know, or for whom the resolver throws has the policy's own limits.
 */
@FunctionalInterface
public interface TierResolver {
    /**
     * Names the tier of a caller.
     *
     * @param call what is known about the call
     * @return the tier's name, empty if the caller has none
     */
    Optional<String> tier(CallContext call);
}
