// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The answer over all charges of one call: {@link Allowed}, {@link Rejected} or {@link Degraded}.
 *
 * <pre>{@code
 * Decision decision = limiter.acquire("mail", tenant);
 * if (decision instanceof Decision.Rejected rejected) {
 *     retryLater(rejected.retryAfter());
 * }
 * }</pre>
 */
public sealed interface Decision {

    /**
     * Whether the call may go on.
     *
     * @return true if it may
     */
    boolean allowed();

    /**
     * What each limit said, in the order of the policies and of their limits; without policies in shadow mode.
     *
     * @return the quotas, empty if no limit was asked
     */
    List<Quota> quotas();

    /**
     * What each limit of the policies in shadow mode said, in their order. None of it has a part in the answer: a limit that
     * {@linkplain Quota#refused() refused} here would have refused the call if its policy were enforced. What the store could not
     * find out about a policy in shadow mode is missing, for all limits of that policy.
     *
     * @return the quotas, empty if no policy is in shadow mode
     */
    List<Quota> shadow();

    /**
     * Every limit had room, or a slot that the call was ready to wait for, and all of them were charged. Who gets this from
     * {@link RateLimiter} has waited already.
     *
     * @param quotas what each limit said after the charge
     * @param receipt with which exactly these charges can be given back
     * @param waitMicros microseconds from the decision to the call's slot: the longest wait of its limits, 0 if there was room
     * @param shadow what each limit of the policies in shadow mode said: after the charge where there was room
     */
    record Allowed(List<Quota> quotas, Receipt receipt, long waitMicros, List<Quota> shadow) implements Decision {

        /** A call to which no limit applies. */
        public static final Allowed UNLIMITED = new Allowed(List.of(), Receipt.EMPTY);

        /** Copies the lists and checks that the wait is not negative. */
        public Allowed {
            quotas = List.copyOf(quotas);
            shadow = List.copyOf(shadow);
            Objects.requireNonNull(receipt, "receipt");
            if (waitMicros < 0) {
                throw new IllegalArgumentException("the wait must not be negative");
            }
        }

        /**
         * A call without policies in shadow mode.
         *
         * @param quotas what each limit said after the charge
         * @param receipt with which exactly these charges can be given back
         * @param waitMicros microseconds from the decision to the call's slot, 0 or more
         */
        public Allowed(List<Quota> quotas, Receipt receipt, long waitMicros) {
            this(quotas, receipt, waitMicros, List.of());
        }

        /**
         * A call without policies in shadow mode, for which there was room.
         *
         * @param quotas what each limit said after the charge
         * @param receipt with which exactly these charges can be given back
         */
        public Allowed(List<Quota> quotas, Receipt receipt) {
            this(quotas, receipt, 0);
        }

        @Override
        public boolean allowed() {
            return true;
        }
    }

    /**
     * At least one limit had no room; none was charged.
     *
     * @param quotas what each limit said
     * @param shadow what each limit of the policies in shadow mode said
     */
    record Rejected(List<Quota> quotas, List<Quota> shadow) implements Decision, Serializable {

        /** Copies the lists and checks that a limit refused that is not in shadow mode. */
        public Rejected {
            quotas = List.copyOf(quotas);
            shadow = List.copyOf(shadow);
            if (!isRefused(quotas)) {
                throw new IllegalArgumentException("a rejection needs a limit that refused");
            }
        }

        /**
         * A call without policies in shadow mode.
         *
         * @param quotas what each limit said
         */
        public Rejected(List<Quota> quotas) {
            this(quotas, List.of());
        }

        private static boolean isRefused(List<Quota> quotas) {
            for (Quota quota : quotas) {
                if (quota.refused()) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public boolean allowed() {
            return false;
        }

        /**
         * The least wait after which the same call is admitted if nobody else spends: the longest of the limits that refused.
         *
         * @return the wait, empty if no wait helps because the cost exceeds what a limit can ever hold
         */
        public Optional<Duration> retryAfter() {
            return decisive().retryAfter();
        }

        /**
         * The limit that decides how long to wait: of those that refused, the one with the longest wait, the first of equals.
         *
         * @return the limit
         */
        public Quota decisive() {
            Quota longest = null;
            for (Quota quota : quotas) {
                if (quota.refused() && (longest == null || quota.retryAfterMicros() > longest.retryAfterMicros())) {
                    longest = quota;
                }
            }
            return Objects.requireNonNull(longest);
        }

        /**
         * The policies of which a limit refused, in declared order, each once.
         *
         * @return the names
         */
        public List<String> violatedPolicies() {
            return quotas.stream()
                    .filter(Quota::refused)
                    .map(Quota::policy)
                    .distinct()
                    .toList();
        }
    }

    /**
     * Decided without the shared store, because it did not answer. Nothing is known about the quotas.
     *
     * @param mode the failure mode that decided
     * @param allowed whether the call may go on
     * @param reason why the store could not decide, from a small fixed set such as {@code timeout} or {@code breaker-open}
     * @param retryAfter of a call that may not go on, after how long it can be worthwhile to try again; zero where nothing is known,
     *     or the call goes on
     */
    record Degraded(FailureMode mode, boolean allowed, String reason, Duration retryAfter) implements Decision {

        /** Checks that no component is null. */
        public Degraded {
            Objects.requireNonNull(mode, "mode");
            Objects.requireNonNull(reason, "reason");
            Objects.requireNonNull(retryAfter, "retryAfter");
        }

        /**
         * A decision about which nothing is known of when to try again.
         *
         * @param mode the failure mode that decided
         * @param allowed whether the call may go on
         * @param reason why the store could not decide
         */
        public Degraded(FailureMode mode, boolean allowed, String reason) {
            this(mode, allowed, reason, Duration.ZERO);
        }

        @Override
        public List<Quota> quotas() {
            return List.of();
        }

        @Override
        public List<Quota> shadow() {
            return List.of();
        }
    }
}
