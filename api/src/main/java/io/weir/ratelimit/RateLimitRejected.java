// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.util.Objects;

/**
 * A CDI event: a call was refused because a limit had no room. It is fired on the thread of the call, before the caller hears
 * of the refusal, so an observer should be quick or {@code @ObservesAsync}; those are not told more than 256 events ahead. What
 * an observer throws does not change the decision. Refusals that an observer itself meets are not fired.
 *
 * <pre>{@code
 * void refused(@Observes RateLimitRejected event) {
 *     abuse.note(event.policy(), event.key());
 * }
 * }</pre>
 *
 * @param endpoint what was called: {@code Class.method}, or {@code RateLimiter} for code
 * @param policy the policy that decided how long to wait
 * @param key who called, under that policy: hashed, with the kind of identity in front. Without {@code ratelimit.key-secret} the
 *     hash differs from instance to instance and from start to start
 * @param cost permits that the call asked for under that policy
 * @param decision what each limit said
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
