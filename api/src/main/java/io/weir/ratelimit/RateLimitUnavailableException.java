// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import jakarta.ejb.ApplicationException;
import java.io.Serial;
import java.time.Duration;
import java.util.Objects;

/**
 * Thrown when the shared store does not answer and the call may not go on for that: at the caller of a limited bean method
 * whose policy's {@link FailureMode} refuses it, and by those operations of {@link RateLimiter} that need the store.
 *
 * <p>Leaving a Jakarta REST resource it becomes a 503, never a 429: an outage is not a quota.
 */
@ApplicationException(rollback = false)
public final class RateLimitUnavailableException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String reason;
    private final Duration retryAfter;

    /**
     * The exception for a failure of the store.
     *
     * @param reason why the store did not answer, from a small fixed set such as {@code timeout} or {@code connection}
     */
    public RateLimitUnavailableException(String reason) {
        this(reason, Duration.ZERO);
    }

    /**
     * The exception for a failure of the store whose end can be guessed.
     *
     * @param reason why the store did not answer, from a small fixed set such as {@code timeout} or {@code breaker-open}
     * @param retryAfter after how long it can be worthwhile to try again, zero if nothing is known
     */
    public RateLimitUnavailableException(String reason, Duration retryAfter) {
        super("the rate limit store does not answer: " + reason, null, false, false);
        this.reason = Objects.requireNonNull(reason, "reason");
        this.retryAfter = Objects.requireNonNull(retryAfter, "retryAfter");
    }

    /**
     * After how long it can be worthwhile to try again.
     *
     * @return zero if nothing is known
     */
    public Duration retryAfter() {
        return retryAfter;
    }

    /**
     * Why the store did not answer, such as {@code timeout} or {@code connection}.
     *
     * @return the reason
     */
    public String reason() {
        return reason;
    }
}
