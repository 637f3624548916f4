// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.util.Objects;

/**
 * A CDI event that reports that a limit rejected a call.
 *
 * <p>The event is fired on the thread of the call, before the caller receives the rejection. Synchronous observers must therefore be
 * fast; slow observers use {@code @ObservesAsync}. At most 256 events wait for asynchronous observers; further events are dropped for
 * them. An exception of an observer has no effect on the decision. A rejection of a call that an observer makes fires no event.
 *
 * <pre>{@code
 * void rejected(@Observes RateLimitRejected event) {
 *     abuse.note(event.policy(), event.key());
 * }
 * }</pre>
 *
 * @param endpoint the called endpoint: {@code Class.method}, or {@code RateLimiter} for calls of application code
 * @param policy the policy that determines {@link Decision.Rejected#retryAfter()}
 * @param key the key of the call under that policy, hashed, after the prefix of its {@linkplain Identity.Kind kind}. Without {@code
 *     ratelimit.key-secret}, the hash is different on each instance and after each start
 * @param cost the cost of the call under that policy, in permits
 * @param decision the decision with the quota of each limit
 */
public record RateLimitRejected(String endpoint, String policy, String key, long cost, Decision.Rejected decision) {
    /** Checks that no component is null. */
    public RateLimitRejected {
        Objects.requireNonNull(endpoint, "endpoint");
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(decision, "decision");
    }
}
