// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * A rate limiter for application code: {@code @Inject RateLimiter limiter}.
 *
 * <p>It applies the policies of configuration and of annotations. In contrast to an annotated method, an acquisition is always charged,
 * even within an HTTP request that was charged before. A key that is passed as a text means {@link Identity#of(String)}, which no
 * annotated method shares. To use the key of an annotated method, pass an {@link Identity} of the same kind.
 *
 * <p>Implementations are thread-safe. Every operation throws {@link IllegalArgumentException} if the policy does not exist, the cost is
 * less than 1, or the key is blank.
 */
public interface RateLimiter {

    /**
     * Spends the cost of the policy for a key if every limit of the policy has enough permits. If enough permits return within the
     * {@code max-wait} of the policy, this method waits for them. If the thread is interrupted, the wait ends, the call is decided
     * without a wait, and the thread remains interrupted. If the application ends during the wait, the charges are refunded, and this
     * method throws a {@link java.util.concurrent.CancellationException}.
     *
     * @param policy the name of a policy
     * @param key the key
     * @return the decision. If the shared backend does not answer within {@code ratelimit.redis.deadline}, a {@link
     *     Decision.Degraded} according to the {@code on-failure} of the policy
     */
    Decision acquire(String policy, Identity key);

    /**
     * Spends a cost for a key if every limit of the policy has enough permits. Waits like {@link #acquire(String, Identity)}.
     *
     * @param policy the name of a policy
     * @param key the key
     * @param cost the permits to spend, 1 or more
     * @return the decision, as with {@link #acquire(String, Identity)}
     */
    Decision acquire(String policy, Identity key, long cost);

    /**
     * Spends the cost of the policy like {@link #acquire(String, Identity)}, but occupies no thread during the wait.
     *
     * @param policy the name of a policy
     * @param key the key
     * @return a stage that completes with the decision on a thread of the container. If its {@code CompletableFuture} is canceled, the
     *     wait ends and the charges are refunded
     */
    CompletionStage<Decision> acquireAsync(String policy, Identity key);

    /**
     * Spends a cost like {@link #acquire(String, Identity, long)}, but occupies no thread during the wait.
     *
     * @param policy the name of a policy
     * @param key the key
     * @param cost the permits to spend, 1 or more
     * @return a stage, as with {@link #acquireAsync(String, Identity)}
     */
    CompletionStage<Decision> acquireAsync(String policy, Identity key, long cost);

    /**
     * Returns the quotas of a key. Spends no permits and does not wait.
     *
     * @param policy the name of a policy
     * @param key the key
     * @return one quota per limit of the policy, for a call with the cost and the {@code max-wait} of the policy
     * @throws RateLimitUnavailableException if the shared backend is unavailable
     */
    List<Quota> peek(String policy, Identity key);

    /**
     * Returns the quotas of the caller of the current HTTP request, by the key expression of the policy and the tier of the caller.
     * Spends no permits and does not wait.
     *
     * @param policy the name of a policy
     * @return one quota per limit of the policy, for a call with the cost and the {@code max-wait} of the policy
     * @throws IllegalArgumentException also if the key expression of the policy refers to an argument of a method
     * @throws IllegalStateException if there is no current HTTP request, as on the thread of a timer
     * @throws RateLimitUnavailableException if the shared backend is unavailable
     */
    List<Quota> peek(String policy);

    /**
     * Refunds exactly the charges of a decision, and releases its slots.
     *
     * @param receipt the receipt of a {@link Decision.Allowed}
     * @throws RateLimitUnavailableException if the shared backend is unavailable. In this case it is unknown whether the charges are
     *     refunded, and the receipt is used
     */
    void refund(Receipt receipt);

    /**
     * Replaces the cost of the charges of a decision by the actual cost, which is known only after the call.
     *
     * <p>If the actual cost is less, the difference is refunded. If it is greater, the difference is charged, even if a limit has no room
     * for it: the key is then in debt, and its calls are rejected until the limit has room again. A limit keeps a debt of at most its
     * permits per window.
     *
     * <p>Each charge is settled once. A charge that is refunded, or whose window has passed, is not changed. A later {@link
     * #refund(Receipt)} refunds the actual cost. Without a settlement, the charges stay as they are.
     *
     * @param receipt the receipt of a {@link Decision.Allowed}
     * @param actualCost the actual cost in permits, 0 or more
     * @throws IllegalArgumentException if the actual cost is negative
     * @throws RateLimitUnavailableException if the shared backend is unavailable. In this case it is unknown whether the charges are
     *     settled, they are not settled by another call, and a later refund returns the reserved cost at most
     * @throws UnsupportedOperationException if the backend cannot settle charges
     */
    void settle(Receipt receipt, long actualCost);

    /**
     * Settles a receipt like {@link #settle(Receipt, long)}, without blocking the thread.
     *
     * @param receipt the receipt of a {@link Decision.Allowed}
     * @param actualCost the actual cost in permits, 0 or more
     * @return a stage that completes after the settlement, on any thread, or with a {@link RateLimitUnavailableException}
     * @throws IllegalArgumentException if the actual cost is negative
     */
    CompletionStage<Void> settleAsync(Receipt receipt, long actualCost);

    /**
     * Releases the slots of concurrency limits that a call has taken, because the call has ended. Other limits keep their charges.
     *
     * <p>This method returns at once and never throws an exception for a receipt. The slots are released in the background. If the shared
     * backend is unavailable, the release is tried again until the slots expire. A second release has no effect, nor has the release of a
     * receipt without slots. A {@link #refund(Receipt)} releases the slots too.
     *
     * <p>While a call runs, this instance renews its slots, so a call can last longer than the {@code concurrency-timeout} of its policy.
     * The application has to keep a reference to the receipt: if the receipt is no longer reachable, its slots expire.
     *
     * @param receipt the receipt of a decision
     */
    void release(Receipt receipt);

    /**
     * Refunds permits without a receipt.
     *
     * <p>The refund is best effort. Because the time of the charge is unknown, the refund can include permits that have already returned.
     * It never raises the remaining permits above the capacity of a limit.
     *
     * @param policy the name of a policy
     * @param key the key
     * @param cost the permits to refund, 1 or more
     * @throws RateLimitUnavailableException if the shared backend is unavailable; in this case nothing is refunded
     */
    void refund(String policy, Identity key, long cost);

    /**
     * Resets a key under all limits of a policy, so that it equals an untouched key. This also ends its block and forgets its penalties.
     *
     * @param policy the name of a policy
     * @param key the key
     * @throws RateLimitUnavailableException if the shared backend is unavailable; in this case the key keeps its state
     */
    void reset(String policy, Identity key);

    /**
     * Blocks a key under a policy: until the end of the block, each call of the key is rejected on all instances and spends no permits.
     * A block is never shortened by another one; {@link #unblock} ends it.
     *
     * <p>A policy in shadow mode rejects no call, blocked or not, except of the keys that {@code enforce-percent} selects. The quotas of
     * {@link #peek(String, Identity)} show the block. An instance that spends {@linkplain io.weir.ratelimit.spi.PolicyLimits#lease()
     * leased} permits of the key learns of the block within two seconds.
     *
     * @param policy the name of a policy
     * @param key the key
     * @param duration how long the key is blocked from now, more than zero and at most 366 days; a shorter time than the rest of the
     *     current block has no effect
     * @return the time until the end of the block, at least the duration
     * @throws IllegalArgumentException also if the duration is out of range
     * @throws RateLimitUnavailableException if the shared backend is unavailable; in this case it is unknown whether the key is blocked
     * @throws UnsupportedOperationException if the backend cannot block keys
     */
    Duration block(String policy, Identity key, Duration duration);

    /**
     * Blocks a key like {@link #block(String, Identity, Duration)}, without blocking the thread.
     *
     * @param policy the name of a policy
     * @param key the key
     * @param duration how long the key is blocked from now, more than zero and at most 366 days
     * @return a stage that completes with the time until the end of the block, on any thread, or with a {@link
     *     RateLimitUnavailableException}
     * @throws IllegalArgumentException also if the duration is out of range
     */
    CompletionStage<Duration> blockAsync(String policy, Identity key, Duration duration);

    /**
     * Ends the block of a key under a policy and forgets its penalties. The permits that the key has spent stay spent. Other instances
     * can reject calls of the key for one more second.
     *
     * @param policy the name of a policy
     * @param key the key
     * @throws RateLimitUnavailableException if the shared backend is unavailable; in this case it is unknown whether the block has ended
     * @throws UnsupportedOperationException if the backend cannot block keys
     */
    void unblock(String policy, Identity key);

    /**
     * Returns the keys with the most recent rejections and calls under a policy, as seen by this instance. Does not use the backend.
     *
     * @param policy the name of a policy
     * @return estimates; empty if there were no recent decisions, or if rate limits are disabled
     */
    TopKeys topKeys(String policy);

    /**
     * Spends the cost of the policy like {@link #acquire(String, Identity)} with {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     * @return the decision
     */
    default Decision acquire(String policy, String key) {
        return acquire(policy, Identity.of(key));
    }

    /**
     * Spends a cost like {@link #acquire(String, Identity, long)} with {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     * @param cost the permits to spend, 1 or more
     * @return the decision
     */
    default Decision acquire(String policy, String key, long cost) {
        return acquire(policy, Identity.of(key), cost);
    }

    /**
     * Spends the cost of the policy like {@link #acquireAsync(String, Identity)} with {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     * @return a stage that completes with the decision on a thread of the container
     */
    default CompletionStage<Decision> acquireAsync(String policy, String key) {
        return acquireAsync(policy, Identity.of(key));
    }

    /**
     * Spends a cost like {@link #acquireAsync(String, Identity, long)} with {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     * @param cost the permits to spend, 1 or more
     * @return a stage that completes with the decision on a thread of the container
     */
    default CompletionStage<Decision> acquireAsync(String policy, String key, long cost) {
        return acquireAsync(policy, Identity.of(key), cost);
    }

    /**
     * Returns the quotas like {@link #peek(String, Identity)} with {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     * @return one quota per limit of the policy
     */
    default List<Quota> peek(String policy, String key) {
        return peek(policy, Identity.of(key));
    }

    /**
     * Refunds permits like {@link #refund(String, Identity, long)} with {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     * @param cost the permits to refund, 1 or more
     */
    default void refund(String policy, String key, long cost) {
        refund(policy, Identity.of(key), cost);
    }

    /**
     * Resets a key like {@link #reset(String, Identity)} with {@link Identity#of(String)}.
     *
     * @param policy the name of a policy
     * @param key any text that is not blank
     */
    default void reset(String policy, String key) {
        reset(policy, Identity.of(key));
    }
}
