// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.engine.BackendHealth;
import java.util.List;

/**
 * The operations of an operator on this instance and on single keys. Quotas and resets concern the shared backend, all other
 * operations concern this instance only.
 *
 * <p>Implementations are thread-safe. Every operation with the name of a policy throws {@link IllegalArgumentException} if the
 * policy does not exist.
 */
public interface Operations {
    /**
     * Returns the configured access to the console.
     *
     * @return the access
     */
    Access access();

    /**
     * Returns the health of the backend without calling it.
     *
     * @return the health
     */
    BackendHealth.Report backend();

    /**
     * Returns the current policies with the origins of their values.
     *
     * @return the policies by name
     */
    List<PolicyView> policies();

    /**
     * Returns the last result of reading the configuration.
     *
     * @return the result; at first that of the deployment
     */
    Reading lastReading();

    /**
     * Returns the top keys of a policy, as {@link io.weir.ratelimit.RateLimiter#topKeys} does.
     *
     * @param policy the name of a policy
     * @return estimates
     */
    TopKeys topKeys(String policy);

    /**
     * Returns the caller with given values for the key of a policy.
     *
     * @param policy the name of a policy
     * @param alternative the position of one of {@link PolicyView#keys}, from 0
     * @param parts the values of its terms, in order; an address is converted to the form and the prefix by which it shares a key
     * @return the caller
     * @throws IllegalArgumentException also if a value does not fit its term, with a message for the operator
     */
    Caller caller(String policy, int alternative, List<String> parts);

    /**
     * Returns the caller with a key, for policies that application code uses.
     *
     * @param policy the name of a policy
     * @param key the key
     * @return the caller
     */
    Caller caller(String policy, Identity key);

    /**
     * Returns the caller with a masked key, as logs, spans and {@link #topKeys} show it.
     *
     * @param policy the name of a policy
     * @param shownKey the masked key
     * @return the caller
     * @throws IllegalArgumentException also if the stored key is unknown: without {@code ratelimit.key-secret}, only the keys of
     *     {@link #topKeys} are known
     */
    Caller shown(String policy, String shownKey);

    /**
     * A caller under a policy.
     *
     * @param policy the name of the policy
     * @param storedKey the stored key, which can contain a name or an address and must not be shown
     * @param key the masked key
     */
    record Caller(String policy, String storedKey, String key) {
        /** Checks the characters of the stored key, because it becomes part of a key of the backend. */
        public Caller {
            if (!storedKey.matches("[!-~&&[^{}:]]{1,4096}")) {
                throw new IllegalArgumentException("the stored key is invalid");
            }
        }

        /** Returns a text without the stored key. */
        @Override
        public String toString() {
            return "Caller[" + policy + ", " + key + "]";
        }
    }

    /**
     * Returns the quotas of a caller. Spends no permits.
     *
     * @param caller the caller
     * @param tier the tier of the caller, empty for none
     * @return one quota per limit; of the limits that a {@link io.weir.ratelimit.spi.PolicySource} returned for the caller, if
     *     they are cached
     * @throws IllegalArgumentException also if the policy has no such tier
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the shared backend is unavailable
     */
    List<Quota> peek(Caller caller, String tier);

    /**
     * Resets a caller under the limits of the policy and of all its tiers.
     *
     * @param caller the caller
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the shared backend is unavailable
     */
    void reset(Caller caller);
}
