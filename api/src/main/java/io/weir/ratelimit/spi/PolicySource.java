// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Identity;
import java.util.Optional;
import java.util.Set;

/**
 * A source of limits for single keys, such as the plan of a customer in a database.
 *
 * <p>Every CDI bean of this type is a source. If several sources have the policy, the source with the highest priority is called first, and
 * the first result applies. It takes precedence over the limits of tiers and over the limits of the policy.
 *
 * <p>Results, including empty ones, are cached for {@code ratelimit.reload-interval} and up to 10,000 keys. A call with a key that is not
 * cached waits for the first result, at most {@code ratelimit.redis.deadline}. Later results are fetched in the background while the
 * previous result applies. If a source throws an exception or returns an invalid result, the previous result still applies.
 *
 * <p>Implementations must be thread-safe. Up to 16 lookups run at the same time, at most one per policy and key. They run on threads of
 * the container's executor and never on the thread of a request. No request scope and no transaction is active.
 */
public interface PolicySource {
    /**
     * Returns the policies of this source. It is never called for other policies. Called once, at deployment, when databases and other
     * beans may not be ready yet.
     *
     * @return the names of the policies
     */
    Set<String> policies();

    /**
     * Returns the limits of a key.
     *
     * @param policy one of {@link #policies()}
     * @param key the value of the key expression of the policy; for a secret such as an API key, the secret itself
     * @return the limits; empty if this source has none for the key
     */
    Optional<LimitOverride> limits(String policy, Identity key);

    /**
     * Returns the priority of this source. Sources with the same priority are called in the order of their class names.
     *
     * @return any number; 0 by default
     */
    default int priority() {
        return 0;
    }
}
