// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Quota;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The capability of a {@link RateLimitBackend} to block keys, and to impose penalties after many rejections. */
public interface BlocksKeys {
    /** The longest block of a key. */
    Duration MAX_BLOCK = Limit.MAX_WINDOW;

    /**
     * Blocks a key under a policy until an end, by the clock of the backend, without blocking the thread. While the key is blocked, {@link
     * RateLimitBackend#acquire} rejects each call with an enforced charge of it, whatever the limits, the tier and the max-wait, and spends
     * nothing. A shadow charge of the key is not spent, and its quotas are rejected.
     *
     * <p>Each quota of a blocked key has {@link Quota#blockedFor}, no remaining permits, and as retry-after the time until the block
     * ends, or the longer wait of the limit. The time until its reset is never shorter than the block. {@link
     * RateLimitBackend#peek(List)} returns such quotas as well. Refunds and settlements change the state of the limits as before.
     *
     * <p>A later end extends the block, an earlier one has no effect. The block ends by itself, by {@link #unblock} and by {@link
     * RateLimitBackend#reset}.
     *
     * @param policy the limits of the policy. The block is that of the policy, whatever its limits are now and later
     * @param storedKey the stored key
     * @param duration the time from now to the end, more than zero and at most {@link #MAX_BLOCK}; rounded up to microseconds
     * @return a stage that completes with the time from now to the end of the block, at least the duration, or with a {@link
     *     BackendException}
     * @throws IllegalArgumentException if the duration is out of range
     */
    CompletionStage<Duration> block(PolicyLimits policy, String storedKey, Duration duration);

    /**
     * Ends the block of a key under a policy, and forgets its rejections and penalties, without blocking the thread. An instance that knows
     * an earlier rejection can repeat it for at most one more second.
     *
     * @param policy the limits of the policy
     * @param storedKey the stored key
     * @return a stage that completes after the block has ended, or with a {@link BackendException}
     */
    CompletionStage<Void> unblock(PolicyLimits policy, String storedKey);

    /**
     * Counts rejections of a key, and blocks it if their number leads to a penalty. Exactly one call of all instances imposes it. If the
     * key is blocked, for whatever reason, nothing is counted.
     *
     * @param policy the limits of the policy
     * @param storedKey the stored key
     * @param rejections the number of rejections, 1 or more
     * @param rule the rule
     * @return a stage that completes with the penalty that this call has imposed, empty if it has imposed none, or with a {@link
     *     BackendException}
     */
    CompletionStage<Optional<Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule);

    /**
     * A penalty of a key: a block after many rejections.
     *
     * @param duration the length of the block
     * @param number the number of this penalty among those of the key that are not forgotten, 1 or more
     */
    record Penalty(Duration duration, int number) {
        /** Checks that the duration is not null and the number is positive. */
        public Penalty {
            Objects.requireNonNull(duration, "duration");
            if (number < 1) {
                throw new IllegalArgumentException("the first penalty has the number 1");
            }
        }
    }
}
