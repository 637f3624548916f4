// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import jakarta.ejb.ApplicationException;
import java.io.Serial;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * The exception that the caller of a limited bean method receives if the call is over a limit. The method has not run and no permits
 * are spent.
 *
 * <p>If the exception leaves a Jakarta REST resource, the response is the same 429 as that of a limited resource method. If it
 * leaves an enterprise bean or a {@code @Transactional} method, the transaction of the bean rolls back, and a message is delivered again.
 * The exception has no stack trace, because a rejection is an ordinary result and must be cheap.
 */
@ApplicationException(rollback = true)
public final class RateLimitExceededException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    private final Decision.Rejected decision;

    /**
     * Creates an exception. Its message has the violated policies and the wait, for callers that see nothing else of it.
     *
     * @param decision the rejection
     */
    public RateLimitExceededException(Decision.Rejected decision) {
        this(decision, "");
    }

    /**
     * Creates an exception for a rejection that another cause than the limits of a policy has.
     *
     * @param decision the rejection
     * @param cause what rejects the call, such as {@code pause of client partner}; the message has it after the violated policies
     */
    public RateLimitExceededException(Decision.Rejected decision, String cause) {
        super(
                "rate limit exceeded: " + String.join(", ", decision.violatedPolicies())
                        + (cause.isEmpty() ? "" : " (" + cause + ")")
                        + decision.retryAfter()
                                .map(wait -> "; retry after "
                                        + wait.plusNanos(999_999_999).toSeconds() + " s")
                                .orElse(""),
                null,
                false,
                false);
        this.decision = Objects.requireNonNull(decision, "decision");
    }

    /**
     * Returns the decision with the quota of each limit.
     *
     * @return the rejection
     */
    public Decision.Rejected decision() {
        return decision;
    }

    /**
     * Returns the shortest wait after which the same call is allowed if no other call spends permits.
     *
     * @return the wait; empty if no wait helps
     */
    public Optional<Duration> retryAfter() {
        return decision.retryAfter();
    }
}
