// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.time.Duration;
import java.util.List;

/**
 * Operations on a caller whose key an operator knows by its values or by its masked form: {@code @Inject CallerOperations operations}.
 *
 * <p>The masked key is the form of a key in logs, spans and {@link TopKeys}: its kind and a hash, and never a name or an address. To
 * acquire permits, use {@link RateLimiter}.
 *
 * <p>Implementations are thread-safe. Every operation throws {@link IllegalArgumentException} if the policy does not exist.
 */
public interface CallerOperations {

    /**
     * Returns the caller with given values for the key expression of a policy. Does not use the backend. If the policy has a {@link
     * io.weir.ratelimit.spi.PolicySource}, waits for the limits of the caller, at most {@code ratelimit.redis.deadline}.
     *
     * @param policy the name of a policy
     * @param alternative the position of an alternative in the key expression, from 0. In {@code principal | ip + header:X-Tenant}, the
     *     alternative {@code ip + header:X-Tenant} has the position 1
     * @param values the values of the terms of this alternative, in order. An address is converted to its shared prefix, and the value of
     *     {@code global} is empty
     * @return the caller
     * @throws IllegalArgumentException also if there is no such alternative, or if a value is not valid for its term; the message is
     *     intended for an operator
     */
    Caller caller(String policy, int alternative, List<String> values);

    /**
     * Returns the caller with a key. Waits like {@link #caller(String, int, List)}.
     *
     * @param policy the name of a policy
     * @param key the key, as for {@link RateLimiter#acquire(String, Identity)}
     * @return the caller
     */
    Caller caller(String policy, Identity key);

    /**
     * Returns the caller with a masked key. Does not wait and does not use the backend.
     *
     * @param policy the name of a policy
     * @param maskedKey the masked key; white space around it is ignored
     * @return the caller
     * @throws IllegalArgumentException also if the key is not a masked key, or if its caller is unknown. Without {@code
     *     ratelimit.key-secret}, only the callers in {@link RateLimiter#topKeys} of this instance are known
     */
    Caller callerByMaskedKey(String policy, String maskedKey);

    /**
     * Returns the quotas of a caller. Spends no permits and does not wait.
     *
     * @param caller a caller that these operations returned
     * @param tier the tier of the caller, empty for none
     * @return one quota per limit of the policy and tier. Limits of a {@link io.weir.ratelimit.spi.PolicySource} for the caller apply if
     *     this instance has cached them
     * @throws IllegalArgumentException also if the policy has no such tier, or if the caller has another origin
     * @throws RateLimitUnavailableException if the shared backend is unavailable
     */
    List<Quota> peek(Caller caller, String tier);

    /**
     * Resets a caller under the limits of the policy and of all its tiers, so that its key equals an untouched key. This also ends its
     * block.
     *
     * @param caller a caller that these operations returned
     * @throws IllegalArgumentException also if the caller has another origin
     * @throws RateLimitUnavailableException if the shared backend is unavailable; in this case it is unknown whether the key is reset
     */
    void reset(Caller caller);

    /**
     * Blocks a caller under a policy and all its tiers, as {@link RateLimiter#block} does.
     *
     * @param caller a caller that these operations returned
     * @param duration how long the caller is blocked from now, more than zero and at most 366 days
     * @return the time until the end of the block, at least the duration
     * @throws IllegalArgumentException also if the caller has another origin, or if the duration is out of range
     * @throws RateLimitUnavailableException if the shared backend is unavailable; in this case it is unknown whether the caller is blocked
     * @throws UnsupportedOperationException if the backend cannot block keys
     */
    Duration block(Caller caller, Duration duration);

    /**
     * Ends the block of a caller, as {@link RateLimiter#unblock} does.
     *
     * @param caller a caller that these operations returned
     * @throws IllegalArgumentException also if the caller has another origin
     * @throws RateLimitUnavailableException if the shared backend is unavailable; in this case it is unknown whether the block has ended
     * @throws UnsupportedOperationException if the backend cannot block keys
     */
    void unblock(Caller caller);

    /** A caller under a policy. Only Weir implements this interface. Its text contains no name and no address. */
    interface Caller {
        /**
         * Returns the name of the policy.
         *
         * @return the name
         */
        String policy();

        /**
         * Returns the masked key, as logs, spans and {@link TopKeys} contain it.
         *
         * @return the masked key
         */
        String key();
    }
}
