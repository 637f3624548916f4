// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.Receipt;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Decisions, and the exceptions of limited methods, for tests without an engine. */
public final class Decisions {
    private Decisions() {}

    /**
     * Creates a decision that allows a call.
     *
     * @param quotas the quotas after the call; none for a call without limits
     * @return the decision, with an empty receipt and without a wait
     */
    public static Decision.Allowed allowed(Quota... quotas) {
        return new Decision.Allowed(results(quotas), Receipt.EMPTY);
    }

    /**
     * Creates a decision that rejects a call.
     *
     * @param policy the violated policy, whose limit is one permit per {@code retryAfter}
     * @param retryAfter the time after which a retry is allowed, more than zero
     * @return the decision
     */
    public static Decision.Rejected rejectedBy(String policy, Duration retryAfter) {
        return rejected(QuotaBuilder.quota(policy)
                .limit(1, retryAfter)
                .rejectedFor(retryAfter)
                .build());
    }

    /**
     * Creates a decision that rejects a call.
     *
     * @param quotas the quotas, one of which rejects the call
     * @return the decision
     * @throws IllegalArgumentException if no quota rejects the call
     */
    public static Decision.Rejected rejected(Quota... quotas) {
        return new Decision.Rejected(results(quotas));
    }

    /** Returns one result per policy. */
    private static List<ChargeResult> results(Quota... quotas) {
        Map<String, List<Quota>> byPolicy = Stream.of(quotas)
                .collect(Collectors.groupingBy(Quota::policy, LinkedHashMap::new, Collectors.toUnmodifiableList()));
        return byPolicy.entrySet().stream()
                .map(policy -> new ChargeResult(policy.getKey(), false, policy.getValue()))
                .toList();
    }

    /**
     * Creates a decision without the shared backend that allows a call.
     *
     * @param reason why the backend is unavailable, as in {@link RateLimitUnavailableException#reason()}
     * @return the decision of the failure mode {@code open}
     */
    public static Decision.Degraded degradedOpen(String reason) {
        return new Decision.Degraded(FailureMode.OPEN, true, reason);
    }

    /**
     * Creates a decision without the shared backend that does not allow a call.
     *
     * @param reason why the backend is unavailable, as in {@link RateLimitUnavailableException#reason()}
     * @param retryAfter the time after which a retry can succeed; zero if it is unknown
     * @return the decision of the failure mode {@code closed}
     */
    public static Decision.Degraded degradedClosed(String reason, Duration retryAfter) {
        return new Decision.Degraded(FailureMode.CLOSED, false, reason, retryAfter);
    }

    /**
     * Creates the exception of a limited bean method whose caller is over the limit.
     *
     * @param policy the violated policy
     * @param retryAfter the time after which a retry is allowed, more than zero
     * @return the exception
     */
    public static RateLimitExceededException exceeded(String policy, Duration retryAfter) {
        return new RateLimitExceededException(rejectedBy(policy, retryAfter));
    }

    /**
     * Creates the exception of a limited bean method whose call may not proceed because the backend is unavailable.
     *
     * @param retryAfter the time after which a retry can succeed; zero if it is unknown
     * @return the exception, with the reason {@code breaker-open} if the time is known, otherwise {@code connection}
     */
    public static RateLimitUnavailableException unavailable(Duration retryAfter) {
        return new RateLimitUnavailableException(retryAfter.isZero() ? "connection" : "breaker-open", retryAfter);
    }
}
