// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Identity;
import java.util.Optional;
import java.util.Set;

/**
 * Knows limits of single keys, such as what a customer has bought. Every CDI bean of this type takes part: of several, those of
 * higher priority are asked first, and the first that has an answer is right. An answer goes before the limits of tiers and
 * before the policy's own.
 *
 * <p>Answers, also that there is none, are kept for {@code ratelimit.reload-interval}, of up to 10,000 keys. A call with a key
 * that is not known waits for the first answer, at most {@code ratelimit.redis.deadline}; later answers are fetched while the
 * one before still holds. What a source throws, and an answer that cannot be used, leave the one before in place.
 *
 * <p>Must be safe for use by several threads: up to 16 look-ups run at once, one per policy and key, on threads of the
 * container's executor and never on that of a request. There is no request scope and no transaction.
 */
public interface PolicySource {
    /**
     * The policies that this source has limits for; it is never asked about others. Called once, at deployment.
     *
     * @return their names, constant as a rule: databases and other beans may not be ready yet
     */
    Set<String> policies();

    /**
     * The limits that hold for a key.
     *
     * @param policy one of {@link #policies()}
     * @param key who calls, as the policy's key expression tells; where that is of a secret, it is the secret itself
     * @return the limits, empty if this source has none for the key
     */
    Optional<LimitOverride> limits(String policy, Identity key);

    /**
     * Which source is asked first.
     *
     * @return any number, 0 unless overridden; of equal ones the order is that of the class names
     */
    default int priority() {
        return 0;
    }
}
