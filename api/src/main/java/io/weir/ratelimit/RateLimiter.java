// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * The same limits for code: {@code @Inject RateLimiter limiter}.
 *
 * <p>Policies are those of configuration and of annotations. Unlike an annotated method, an acquisition here is always
 * charged, also within an HTTP request that was charged already. A key given as a text is {@link Identity#of(String)}, which
 * no annotated method shares; name an {@link Identity} of another kind to meet the key of an annotated one.
 *
 * <p>Implementations are safe for use by many threads. Every operation throws {@link IllegalArgumentException} for a policy
 * that does not exist, a cost below 1 or a blank key.
 */
public interface RateLimiter {

    /**
     * Spends the policy's cost for a key if every limit of the policy has room, at once or within the policy's {@code max-wait}, which
     * this call then waits. An interrupt ends the wait: the call is decided as one that does not wait, and the thread stays interrupted.
     *
     * @param policy a policy's name
     * @param key who spends
     * @return the decision; {@link Decision.Degraded} as the policy's {@code on-failure} says when the shared store does not
     *     answer within {@code ratelimit.redis.deadline}
     */
    Decision acquire(String policy, Identity key);

    /**
     * Spends a cost for a key if every limit of the policy has room, waiting as {@link #acquire(String, Identity)}.
     *
     * @param policy a policy's name
     * @param key who spends
     * @param cost permits to spend, 1 or more
     * @return the decision, as {@link #acquire(String, Identity)}
     */
    Decision acquire(String policy, Identity key, long cost);

    /**
     * As {@link #acquire(String, Identity)}, without holding a thread while it waits.
     *
     * @param policy a policy's name
     * @param key who spends
     * @return completed with the decision, on a thread of the container. Cancelling its {@code CompletableFuture} ends the wait and
     *     gives back what was charged
     */
    CompletionStage<Decision> acquireAsync(String policy, Identity key);

    /**
     * As {@link #acquire(String, Identity, long)}, without holding a thread while it waits.
     *
     * @param policy a policy's name
     * @param key who spends
     * @param cost permits to spend, 1 or more
     * @return completed with the decision, on a thread of the container
     */
    CompletionStage<Decision> acquireAsync(String policy, Identity key, long cost);

    /**
     * What a key has left, without spending and without waiting.
     *
     * @param policy a policy's name
     * @param key who asks
     * @return one quota per limit of the policy, for a call of the policy's cost that is ready to wait for its {@code max-wait}
     * @throws RateLimitUnavailableException if the shared store does not answer
     */
    List<Quota> peek(String policy, Identity key);

    /**
     * What the caller of the HTTP request at hand has left under a policy, by the policy's own key and the caller's tier, without
     * spending and without waiting.
     *
     * @param policy a policy's name
     * @return one quota per limit of the policy, for a call of the policy's cost that is ready to wait for its {@code max-wait}
     * @throws IllegalArgumentException also if the policy's key uses an argument of a method
     * @throws IllegalStateException if there is no HTTP request at hand, as on the threads of timers
     * @throws RateLimitUnavailableException if the shared store does not answer
     */
    List<Quota> peek(String policy);

    /**
     * Gives back exactly what a decision charged.
     *
     * @param receipt the receipt of an {@link Decision.Allowed}
     * @throws RateLimitUnavailableException if the shared store does not answer; whether the charges stay is then unknown, and the
     *     receipt is used all the same
     */
    void refund(Receipt receipt);

    /**
     * Gives permits back without a receipt. Best effort: without knowing when they were spent it can also take back what had
     * been recovered since; it never lifts a limit above its capacity.
     *
     * @param policy a policy's name
     * @param key who spent
     * @param cost permits to give back, 1 or more
     * @throws RateLimitUnavailableException if the shared store does not answer; the charges then stay
     */
    void refund(String policy, Identity key, long cost);

    /**
     * Makes a key of a policy as good as untouched, for all limits of the policy.
     *
     * @param policy a policy's name
     * @param key whose state is dropped
     * @throws RateLimitUnavailableException if the shared store does not answer; the state then stays
     */
    void reset(String policy, Identity key);

    /**
     * Who was refused, and who called, most often of late under a policy, as this instance has seen. Nothing is asked of the store.
     *
     * @param policy a policy's name
     * @return estimates; empty where nothing was decided of late, or nothing is limited
     */
    TopKeys topKeys(String policy);

    /**
     * As {@link #acquire(String, Identity)} with {@link Identity#of(String)}.
     *
     * @param policy a policy's name
     * @param key any text that is not blank
     * @return the decision
     */
    default Decision acquire(String policy, String key) {
        return acquire(policy, Identity.of(key));
    }

    /**
     * As {@link #acquire(String, Identity, long)} with {@link Identity#of(String)}.
     *
     * @param policy a policy's name
     * @param key any text that is not blank
     * @param cost permits to spend, 1 or more
     * @return the decision
     */
    default Decision acquire(String policy, String key, long cost) {
        return acquire(policy, Identity.of(key), cost);
    }

    /**
     * As {@link #acquireAsync(String, Identity)} with {@link Identity#of(String)}.
     *
     * @param policy a policy's name
     * @param key any text that is not blank
     * @return completed with the decision, on a thread of the container
     */
    default CompletionStage<Decision> acquireAsync(String policy, String key) {
        return acquireAsync(policy, Identity.of(key));
    }

    /**
     * As {@link #acquireAsync(String, Identity, long)} with {@link Identity#of(String)}.
     *
     * @param policy a policy's name
     * @param key any text that is not blank
     * @param cost permits to spend, 1 or more
     * @return completed with the decision, on a thread of the container
     */
    default CompletionStage<Decision> acquireAsync(String policy, String key, long cost) {
        return acquireAsync(policy, Identity.of(key), cost);
    }

    /**
     * As {@link #peek(String, Identity)} with {@link Identity#of(String)}.
     *
     * @param policy a policy's name
     * @param key any text that is not blank
     * @return one quota per limit of the policy
     */
    default List<Quota> peek(String policy, String key) {
        return peek(policy, Identity.of(key));
    }

    /**
     * As {@link #refund(String, Identity, long)} with {@link Identity#of(String)}.
     *
     * @param policy a policy's name
     * @param key any text that is not blank
     * @param cost permits to give back, 1 or more
     */
    default void refund(String policy, String key, long cost) {
        refund(policy, Identity.of(key), cost);
    }

    /**
     * As {@link #reset(String, Identity)} with {@link Identity#of(String)}.
     *
     * @param policy a policy's name
     * @param key any text that is not blank
     */
    default void reset(String policy, String key) {
        reset(policy, Identity.of(key));
    }
}
