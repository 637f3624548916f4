// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Identity;
import java.time.Duration;

/**
 * The state of all limits in a test: keys can be exhausted and reset, and the backend can fail.
 *
 * <p>Implementations are thread-safe. Each operation on a key throws {@link IllegalArgumentException} if the policy does not exist, or the
 * key is blank.
 */
public interface RateLimits {
    /**
     * Spends all permits of a key under each of the limits of {@link #remaining(String, Identity)}, also if the backend fails. Takes all
     * slots of a concurrency limit; they are free after the {@code concurrency-timeout} of the policy, or after a reset.
     *
     * @param policy the name of a policy
     * @param key the key
     */
    void exhaust(String policy, Identity key);

    /**
     * Spends all permits of a key that code passes as a text, like {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     */
    default void exhaust(String policy, String key) {
        exhaust(policy, Identity.of(key));
    }

    /**
     * Returns the permits that the key can spend now: the least of all limits of the policy. The limits are those
     * of the key if a {@link io.weir.ratelimit.spi.PolicySource} has some, otherwise those of the policy, not of a tier. Spends
     * nothing, and works although the backend fails.
     *
     * @param policy the name of a policy
     * @param key the key
     * @return the permits, 0 or more; {@link Long#MAX_VALUE} if limits are disabled
     */
    long remaining(String policy, Identity key);

    /**
     * Returns the permits of a key that code passes as a text, like {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     * @return the permits, 0 or more
     */
    default long remaining(String policy, String key) {
        return remaining(policy, Identity.of(key));
    }

    /**
     * Deletes the state of a key, also if the backend fails.
     *
     * @param policy the name of a policy
     * @param key the key
     */
    void reset(String policy, Identity key);

    /**
     * Deletes the state of a key that code passes as a text, like {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     */
    default void reset(String policy, String key) {
        reset(policy, Identity.of(key));
    }

    /** Deletes the state of all keys. The clock and the faults of the backend do not change. */
    void reset();

    /**
     * Restores the state at the start of a test: no key has a state, the backend works, no call waits, and the clock shows its first time.
     */
    void resetAll();

    /**
     * Lets each call of the backend fail, as if the connection to Redis were lost. The failure modes of the policies decide. After five
     * failures in a row the breaker opens, as it does for Redis, until a probe succeeds, one per second. Only then is the time of a retry
     * known.
     */
    void failBackend();

    /**
     * Delays each reply of the backend. A call takes this time of the clock; a longer delay than {@code ratelimit.redis.deadline}
     * is a failure at the deadline. Failures count for the breaker.
     *
     * @param delay the delay, zero or more
     * @throws IllegalArgumentException if the delay is negative
     */
    void delayBackend(Duration delay);

    /** Lets the backend work again. A breaker that is open remains open until its probe. */
    void recoverBackend();
}
