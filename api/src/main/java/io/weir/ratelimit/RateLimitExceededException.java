// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import jakarta.ejb.ApplicationException;
import java.io.Serial;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Thrown at the caller of a limited bean method that is over a limit; the method did not run and nothing was spent.
 *
 * <p>Leaving a Jakarta REST resource it becomes the same 429 that a limited resource method answers. It does not roll back a
 * transaction of the caller. It carries no stack trace: a refusal is an ordinary answer and must stay cheap.
 */
@ApplicationException(rollback = false)
public final class RateLimitExceededException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final Decision.Rejected decision;

    /**
     * The exception for a decision.
     *
     * @param decision the rejection, whose violated policies become the message
     */
    public RateLimitExceededException(Decision.Rejected decision) {
        super("rate limit exceeded: " + String.join(", ", decision.violatedPolicies()), null, false, false);
        this.decision = Objects.requireNonNull(decision, "decision");
    }

    /**
     * The decision with what each limit said.
     *
     * @return the rejection
     */
    public Decision.Rejected decision() {
        return decision;
    }

    /**
     * The least wait after which the same call is admitted if nobody else spends.
     *
     * @return the wait, empty if no wait helps
     */
    public Optional<Duration> retryAfter() {
        return decision.retryAfter();
    }
}
