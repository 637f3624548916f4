// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The decision over all charges of one call: {@link Allowed}, {@link Rejected} or {@link Degraded}.
 *
 * <pre>{@code
 * Decision decision = limiter.acquire("mail", tenant);
 * if (!decision.allowed()) {
 *     retryLater(decision instanceof Decision.Rejected rejected ? rejected.retryAfter() : Optional.empty());
 * }
 * }</pre>
 */
public sealed interface Decision {

    /**
     * Returns whether the call may proceed.
     *
     * @return true if the call may proceed
     */
    boolean allowed();

    /**
     * Returns this decision if the call may proceed, and otherwise throws the exception that a limited bean method throws.
     *
     * @return this decision
     * @throws RateLimitExceededException if the call is over a limit
     * @throws RateLimitUnavailableException if the backend is unavailable, and the failure mode rejects the call
     */
    default Decision orThrow() {
        if (this instanceof Rejected rejected) {
            throw new RateLimitExceededException(rejected);
        }
        if (this instanceof Degraded degraded && !degraded.allowed()) {
            throw new RateLimitUnavailableException(degraded.reason(), degraded.retryAfter());
        }
        return this;
    }

    /**
     * Returns the result of each charge.
     *
     * @return one result per charge of the call, in the order of the charges; empty if no limit was evaluated
     */
    List<ChargeResult> results();

    /**
     * Returns the quota of each limit of the enforced policies, in the order of the policies and of their limits: the quotas of the {@link
     * #results} that are not in shadow mode.
     *
     * @return the quotas; empty if no limit was evaluated
     */
    default List<Quota> quotas() {
        return quotas(false);
    }

    /**
     * Returns the quota of each limit of the policies in shadow mode, in the order of the policies and of their limits: the quotas of the
     * {@link #results} in shadow mode.
     *
     * <p>These quotas have no effect on the decision. A quota that {@linkplain Quota#rejected() rejected} here would have rejected the
     * call if its policy were enforced. If the backend could not evaluate a policy in shadow mode, all quotas of that policy are
     * missing.
     *
     * @return the quotas; empty if no policy is in shadow mode, or the call is rejected
     */
    default List<Quota> shadowQuotas() {
        return quotas(true);
    }

    private List<Quota> quotas(boolean shadow) {
        List<ChargeResult> results = results();
        List<Quota> only = null;
        List<Quota> several = null;
        for (int i = 0; i < results.size(); i++) {
            ChargeResult result = results.get(i);
            if (result.shadow() != shadow) {
                continue;
            }
            if (only == null) {
                only = result.quotas();
            } else {
                several = several == null ? new ArrayList<>(only) : several;
                several.addAll(result.quotas());
            }
        }
        return several != null ? List.copyOf(several) : only != null ? only : List.of();
    }

    /**
     * Returns the receipt of the charges of this decision.
     *
     * @return the receipt; {@link Receipt#EMPTY} for a rejection, and for a call that was allowed without the shared backend, unless that
     *     call took a slot of a concurrency limit in process
     */
    Receipt receipt();

    /**
     * The decision that allows a call: every limit had enough permits, or the call waits for permits that return within its {@code
     * max-wait}. All limits are charged. {@link RateLimiter} returns this decision after the wait.
     *
     * @param results the result of each charge, after the charge. A result in shadow mode is one after the charge if the policy had enough
     *     permits. The list is immutable and not copied, so a backend can calculate the results when they are first read
     * @param receipt the receipt by which these charges can be refunded
     * @param waitMicros the time from the decision to the return of the permits, in microseconds. It is the longest wait of the limits,
     *     and 0 if all of them had enough permits
     */
    record Allowed(List<ChargeResult> results, Receipt receipt, long waitMicros) implements Decision {

        /** The decision for a call without limits. */
        public static final Allowed UNLIMITED = new Allowed(List.of(), Receipt.EMPTY);

        /** Checks that no component is null, and that the wait is not negative. */
        public Allowed {
            Objects.requireNonNull(results, "results");
            Objects.requireNonNull(receipt, "receipt");
            if (waitMicros < 0) {
                throw new IllegalArgumentException("the wait must not be negative");
            }
        }

        /**
         * Creates a decision without a wait.
         *
         * @param results the result of each charge, after the charge
         * @param receipt the receipt by which these charges can be refunded
         */
        public Allowed(List<ChargeResult> results, Receipt receipt) {
            this(results, receipt, 0);
        }

        @Override
        public boolean allowed() {
            return true;
        }
    }

    /**
     * The decision that rejects a call: at least one limit did not have enough permits. No limit is charged, and no policy in shadow mode
     * is evaluated.
     *
     * @param results the result of each charge. At least one of them that is not in shadow mode rejected the call. Those in shadow mode
     *     have no quotas
     */
    record Rejected(List<ChargeResult> results) implements Decision, Serializable {

        /** Copies the list and checks that an enforced limit rejected the call. */
        public Rejected {
            results = List.copyOf(results);
            if (!anyRejected(results)) {
                throw new IllegalArgumentException("a rejection needs a limit that rejected the call");
            }
        }

        private static boolean anyRejected(List<ChargeResult> results) {
            for (ChargeResult result : results) {
                if (!result.shadow() && result.rejected()) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public boolean allowed() {
            return false;
        }

        @Override
        public Receipt receipt() {
            return Receipt.EMPTY;
        }

        /**
         * Returns the shortest wait after which the same call is allowed if no other call spends permits. It is the longest wait of
         * the limits that rejected the call.
         *
         * @return the wait; empty if the cost exceeds the capacity of a limit, so that no wait helps
         */
        public Optional<Duration> retryAfter() {
            return decisiveQuota().retryAfter();
        }

        /**
         * Returns the quota that determines {@link #retryAfter()}: of the limits that rejected the call, the one with the longest wait.
         * If several have the same wait, the first one is returned.
         *
         * @return the quota
         */
        public Quota decisiveQuota() {
            Quota longest = null;
            for (Quota quota : quotas()) {
                if (quota.rejected() && (longest == null || isLonger(quota.retryAfter(), longest.retryAfter()))) {
                    longest = quota;
                }
            }
            return Objects.requireNonNull(longest);
        }

        /** An empty wait is the longest one. */
        private static boolean isLonger(Optional<Duration> wait, Optional<Duration> other) {
            return other.isPresent() && (wait.isEmpty() || wait.get().compareTo(other.get()) > 0);
        }

        /**
         * Tests whether a {@linkplain RateLimiter#block blocked} key rejected the call. It can lack permits as well.
         *
         * @return true if the key of the call is blocked under a policy
         */
        public boolean blocked() {
            for (Quota quota : quotas()) {
                if (quota.blocked()) {
                    return true;
                }
            }
            return false;
        }

        /**
         * Returns the policies with a limit that rejected the call.
         *
         * @return the names of the policies in declared order, each of them once
         */
        public List<String> violatedPolicies() {
            return quotas().stream()
                    .filter(Quota::rejected)
                    .map(Quota::policy)
                    .distinct()
                    .toList();
        }
    }

    /**
     * The decision that a {@link FailureMode} took because the shared backend was unavailable. The quotas are unknown.
     *
     * @param mode the failure mode that took the decision
     * @param allowed whether the call may proceed
     * @param reason why the backend was unavailable: a {@linkplain RateLimitUnavailableException#reason() reason} such as {@code
     *     timeout} or {@code breaker-open}
     * @param retryAfter the time after which a retry can succeed, with a random addition that spreads the retries; zero if that is
     *     unknown or if the call may proceed
     * @param receipt the receipt of a slot of a concurrency limit that the call took in process, otherwise {@link Receipt#EMPTY}
     */
    record Degraded(FailureMode mode, boolean allowed, String reason, Duration retryAfter, Receipt receipt)
            implements Decision {

        /** Checks that no component is null. */
        public Degraded {
            Objects.requireNonNull(mode, "mode");
            Objects.requireNonNull(reason, "reason");
            Objects.requireNonNull(retryAfter, "retryAfter");
            Objects.requireNonNull(receipt, "receipt");
        }

        /**
         * Creates a decision without slots.
         *
         * @param mode the failure mode that took the decision
         * @param allowed whether the call may proceed
         * @param reason why the backend was unavailable
         * @param retryAfter the time after which a retry can succeed; zero if that is unknown or if the call may proceed
         */
        public Degraded(FailureMode mode, boolean allowed, String reason, Duration retryAfter) {
            this(mode, allowed, reason, retryAfter, Receipt.EMPTY);
        }

        /**
         * Creates a decision without a known time for a retry.
         *
         * @param mode the failure mode that took the decision
         * @param allowed whether the call may proceed
         * @param reason why the backend was unavailable
         */
        public Degraded(FailureMode mode, boolean allowed, String reason) {
            this(mode, allowed, reason, Duration.ZERO);
        }

        @Override
        public List<ChargeResult> results() {
            return List.of();
        }
    }
}
