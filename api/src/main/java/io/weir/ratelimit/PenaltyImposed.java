// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.time.Duration;
import java.util.Objects;

/**
 * A CDI event that reports a penalty: many rejections have blocked a key, as {@code penalty.after} of its policy configures.
 *
 * <p>The event is fired once per penalty, by one of the instances that share the backend. It is fired on a thread of the container after
 * the decision. An exception of an observer affects neither decisions nor the other observers. {@link CallerOperations#unblock} ends the
 * block.
 *
 * <pre>{@code
 * void blocked(@ObservesAsync PenaltyImposed event) {
 *     security.report(event.policy() + ": " + event.key() + " is blocked for " + event.duration());
 * }
 * }</pre>
 *
 * @param endpoint the endpoint of a rejected call: {@code Class.method}, or {@code RateLimiter} for calls of application code
 * @param policy the name of the policy
 * @param key the key, hashed as in {@link RateLimitRejected#key()}
 * @param duration the length of the block
 * @param number the number of this penalty among those of the key that are not forgotten, 1 or more
 */
public record PenaltyImposed(String endpoint, String policy, String key, Duration duration, int number) {
    /** Checks that no component is null. */
    public PenaltyImposed {
        Objects.requireNonNull(endpoint, "endpoint");
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(duration, "duration");
    }
}
