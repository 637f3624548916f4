// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.engine.BackendHealth;
import java.util.List;

/**
 * What an operator can see of this instance, and do about one caller. Everything is of this instance but what callers have left and what a
 * reset does, which are the store's. Safe for use by many threads; every operation that names a policy throws {@link
 * IllegalArgumentException} for one that does not exist.
 */
public interface Operations {
    /**
     * Who may see the operators' page, as configured.
     *
     * @return who
     */
    Access access();

    /**
     * How the store is, without asking it.
     *
     * @return what is known
     */
    BackendHealth.Report store();

    /**
     * All policies at the moment, and where their values come from.
     *
     * @return the policies by name
     */
    List<PolicyView> policies();

    /**
     * What came of reading configuration last.
     *
     * @return the last reading; at first that of the deployment
     */
    Reading lastReading();

    /**
     * As {@link io.weir.ratelimit.RateLimiter#topKeys}.
     *
     * @param policy a policy's name
     * @return estimates
     */
    TopKeys topKeys(String policy);

    /**
     * The caller that an operator names by the parts of a policy's key.
     *
     * @param policy a policy's name
     * @param alternative the position of one of {@link PolicyView#keys}, from 0
     * @param parts the values for its terms, in order; an address is brought to the form and the prefix under which it shares a key
     * @return the caller
     * @throws IllegalArgumentException also if the values do not fit the terms, with a message for the operator
     */
    Caller caller(String policy, int alternative, List<String> parts);

    /**
     * The caller that code names, for policies that code asks for.
     *
     * @param policy a policy's name
     * @param key who it is
     * @return the caller
     */
    Caller caller(String policy, Identity key);

    /**
     * The caller of a key as logs, spans and {@link #topKeys} show it.
     *
     * @param policy a policy's name
     * @param shownKey the key
     * @return the caller
     * @throws IllegalArgumentException also if the key cannot be told from its hash: without {@code ratelimit.key-secret} only keys of
     *     {@link #topKeys} can
     */
    Caller shown(String policy, String shownKey);

    /**
     * A caller under a policy.
     *
     * @param policy the policy's name
     * @param storedKey the identity in its stored form, which can hold a name or an address, and must not be shown
     * @param key the key as it may be shown
     */
    record Caller(String policy, String storedKey, String key) {
        /** Checks that the identity can be one: nothing else may get into a key of the store. */
        public Caller {
            if (!storedKey.matches("[!-~&&[^{}:]]{1,4096}")) {
                throw new IllegalArgumentException("this is no identity in its stored form");
            }
        }

        /** Does not show the identity. */
        @Override
        public String toString() {
            return "Caller[" + policy + ", " + key + "]";
        }
    }

    /**
     * What a caller has left, without spending.
     *
     * @param caller the caller
     * @param tier the caller's tier, empty for none
     * @return one quota per limit; of the limits that a {@link io.weir.ratelimit.spi.PolicySource} gives the caller where they are known
     * @throws IllegalArgumentException also if the policy has no such tier
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the shared store does not answer
     */
    List<Quota> peek(Caller caller, String tier);

    /**
     * Makes a caller as good as untouched, under the limits of the policy and of all its tiers.
     *
     * @param caller the caller
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the shared store does not answer
     */
    void reset(Caller caller);
}
