// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.Identity;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;

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

    /**
     * Blocks a key under a policy and all its tiers, also if the backend fails.
     *
     * @param policy the name of a policy
     * @param key the key
     * @param duration how long the key is blocked from now, more than zero
     */
    void block(String policy, Identity key, Duration duration);

    /**
     * Blocks a key that code passes as a text, like {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     * @param duration how long the key is blocked from now, more than zero
     */
    default void block(String policy, String key, Duration duration) {
        block(policy, Identity.of(key), duration);
    }

    /**
     * Ends the block of a key, also if the backend fails. Its penalties are forgotten, and its spent permits remain spent.
     *
     * @param policy the name of a policy
     * @param key the key
     */
    void unblock(String policy, Identity key);

    /**
     * Ends the block of a key that code passes as a text, like {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     */
    default void unblock(String policy, String key) {
        unblock(policy, Identity.of(key));
    }

    /**
     * Changes an attribute of a policy at once, as a runtime change does. The change ends with {@link #resetAll()}.
     *
     * @param policy the name of a policy
     * @param attribute the attribute, such as {@code limit} in {@code ratelimit.policies.<p>.limit}
     * @param value the value, such as {@code 3/1m}
     * @throws IllegalArgumentException if the policy does not exist or the value is invalid, with all problems; then nothing changes
     */
    void change(String policy, String attribute, String value);

    /**
     * Lists the events of a type since the last {@link #resetAll()}. The kit observes all events of the limiter on the thread that causes
     * them, so an event is listed when the call returns. Asynchronous observers of the application receive it later, on other threads.
     *
     * @param type {@link io.weir.ratelimit.RateLimitRejected}, {@link io.weir.ratelimit.QuotaThresholdReached}, {@link
     *     io.weir.ratelimit.PenaltyImposed} or {@link io.weir.ratelimit.BackendStateChanged}
     * @param <E> the type
     * @return the events in order, of the last 10,000 events of all types
     */
    <E> List<E> events(Class<E> type);

    /**
     * Waits for events that calls on other threads cause. The test needs no sleep: it continues with the event that satisfies the
     * condition.
     *
     * @param type a type of {@link #events(Class)}
     * @param condition what the list of events must satisfy
     * @param <E> the type
     * @return the events, which satisfy the condition
     * @throws AssertionError if they do not satisfy it within ten seconds
     */
    <E> List<E> awaitEvents(Class<E> type, Predicate<? super List<E>> condition);

    /** Deletes the state of all keys. The clock and the faults of the backend do not change. */
    void reset();

    /**
     * Restores the state at the start of a test: no key has a state, no attribute is changed, there were no events, the backend works, no call
     * waits, and the clock shows its first time.
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
