// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import jakarta.ejb.ApplicationException;
import java.io.Serial;
import java.time.Duration;
import java.util.Objects;

/**
 * The exception that the caller receives if the shared backend is unavailable and the call may therefore not proceed. A limited bean
 * method throws it if the {@link FailureMode} of its policy rejects the call. The operations of {@link RateLimiter} that need the backend
 * throw it, too.
 *
 * <p>If the exception leaves a Jakarta REST resource, the response is a 503 and never a 429, because an outage is not a quota. The
 * exception rolls back a transaction as {@link RateLimitExceededException} does, and has no stack trace.
 */
@ApplicationException(rollback = true)
public final class RateLimitUnavailableException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final String reason;
    private final Duration retryAfter;

    /**
     * Creates an exception without a known time for a retry.
     *
     * @param reason why the backend is unavailable, as in {@link #reason()}
     */
    public RateLimitUnavailableException(String reason) {
        this(reason, Duration.ZERO);
    }

    /**
     * Creates an exception.
     *
     * @param reason why the backend is unavailable, as in {@link #reason()}
     * @param retryAfter the time after which a retry can succeed; zero if it is unknown
     */
    public RateLimitUnavailableException(String reason, Duration retryAfter) {
        super("the rate limit backend is unavailable: " + reason, null, false, false);
        this.reason = Objects.requireNonNull(reason, "reason");
        this.retryAfter = Objects.requireNonNull(retryAfter, "retryAfter");
    }

    /**
     * Returns the time after which a retry can succeed. It contains a random addition that spreads the retries.
     *
     * @return the time; zero if it is unknown
     */
    public Duration retryAfter() {
        return retryAfter;
    }

    /**
     * Returns why the backend is unavailable.
     *
     * @return the reason, one of {@code not-ready}, {@code timeout}, {@code connection}, {@code backend-error}, {@code foreign-state},
     *     {@code full} and {@code breaker-open}
     */
    public String reason() {
        return reason;
    }
}
