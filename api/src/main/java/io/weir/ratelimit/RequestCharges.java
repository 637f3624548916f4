// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.util.concurrent.CompletionStage;

/**
 * The charges of the current HTTP request, for costs that are known only after the work: {@code @Inject RequestCharges charges}.
 *
 * <pre>{@code
 * @POST
 * @RateLimit(value = "tokens", cost = 4096) // reserves the greatest cost
 * public Answer complete(Question question) {
 *     Answer answer = model.complete(question);
 *     charges.settle("tokens", answer.totalTokens());
 *     return answer;
 * }
 * }</pre>
 *
 * <p>The charges are those of annotated methods and of path rules. A call of {@link RateLimiter} within the request is settled by its
 * receipt. A settlement can also follow after the response has begun, for example at the end of a stream. The header fields of the
 * response show what is known when they are written.
 *
 * <p>Implementations are thread-safe. Concurrent settlements of one policy are not combined: each charge has the actual cost of one of
 * them.
 */
public interface RequestCharges {

    /**
     * Replaces the cost that the request has paid under a policy by the actual cost, as {@link RateLimiter#settle(Receipt, long)} does.
     * If the request has paid several charges under the policy, they are settled as one: the latest charge is refunded or increased
     * first. Each charge is settled once. Without a charge under an existing policy, for example after a bypass or a degraded decision,
     * this method has no effect.
     *
     * @param policy the name of a policy
     * @param actualCost the actual cost in permits, 0 or more
     * @throws IllegalArgumentException if no policy has this name, or if the actual cost is negative
     * @throws IllegalStateException if no HTTP request is active on this thread and the charges are not {@linkplain #capture captured}
     * @throws RateLimitUnavailableException as with {@link RateLimiter#settle(Receipt, long)}
     */
    void settle(String policy, long actualCost);

    /**
     * Settles like {@link #settle(String, long)}, without blocking the thread.
     *
     * @param policy the name of a policy
     * @param actualCost the actual cost in permits, 0 or more
     * @return a stage that completes after the settlement, on any thread, or with a {@link RateLimitUnavailableException}
     * @throws IllegalArgumentException if no policy has this name, or if the actual cost is negative
     * @throws IllegalStateException as with {@link #settle(String, long)}
     */
    CompletionStage<Void> settleAsync(String policy, long actualCost);

    /**
     * Returns the charges of the current request for other threads, and for the time after the request has ended.
     *
     * @return the charges; usable on any thread
     * @throws IllegalStateException if no HTTP request is active on this thread
     */
    RequestCharges capture();
}
