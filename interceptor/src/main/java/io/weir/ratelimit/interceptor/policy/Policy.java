// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.Optional;

/**
 * A named set of limits on one key.
 *
 * @param limits the name and the limits of callers without a tier
 * @param tiers the limits of the others
 * @param key who shares them
 * @param cost permits a call spends unless something nearer says otherwise, 1 or more
 * @param onFailure what happens when the store does not answer
 * @param maxWaiting how many calls may wait at once, 1 or more
 * @param mode whether the policy refuses calls
 * @param count which calls stay charged
 * @param disclosure what clients are told of it
 * @param help where clients read about it, a URI reference
 * @param rule the requests it applies to without an annotation
 */
public record Policy(
        PolicyLimits limits,
        Tiers tiers,
        KeyExpression key,
        long cost,
        FailureMode onFailure,
        int maxWaiting,
        Mode mode,
        Count count,
        Disclosure disclosure,
        Optional<String> help,
        Optional<PathRule> rule) {

    /** How many calls may wait at once unless the policy says otherwise. */
    public static final int MAX_WAITING = 16;

    /** Whether a policy refuses calls. */
    public enum Mode {
        /** It does. */
        ENFORCE,
        /** It only reports the calls that it would refuse; those spend nothing. */
        SHADOW,
        /** It decides nothing. A request that it applies to is none for {@code paths=default} all the same. */
        OFF
    }

    /** Which calls stay charged; the charge of any other is given back when its outcome is known. */
    public enum Count {
        /** All. */
        ALWAYS,
        /** Those answered 2xx or 3xx; of beans, those that return. */
        SUCCESS,
        /** Those answered 4xx or 5xx, or not at all; of beans, those that throw. */
        FAILURE;

        /**
         * Whether a call stays charged.
         *
         * @param succeeded whether it succeeded
         * @return false if its charge is to be given back
         */
        public boolean counts(boolean succeeded) {
            return this == ALWAYS || (this == SUCCESS) == succeeded;
        }
    }

    /** What clients are told of a policy. */
    public enum Disclosure {
        /** Its name and quotas. */
        FULL,
        /** Nothing but that a call is refused, and for how long. */
        MINIMAL
    }

    /**
     * A policy that has the default in place of all that is not given.
     *
     * @param limits the name and the limits
     * @param key who shares them
     * @param cost permits a call spends, 1 or more
     * @param onFailure what happens when the store does not answer
     * @param maxWaiting how many calls may wait at once, 1 or more
     */
    public Policy(PolicyLimits limits, KeyExpression key, long cost, FailureMode onFailure, int maxWaiting) {
        this(
                limits,
                Tiers.NONE,
                key,
                cost,
                onFailure,
                maxWaiting,
                Mode.ENFORCE,
                Count.ALWAYS,
                Disclosure.FULL,
                Optional.empty(),
                Optional.empty());
    }

    /**
     * The policy's name.
     *
     * @return the name
     */
    public String name() {
        return limits.policy();
    }

    /**
     * The longest that a call waits instead of being refused.
     *
     * @return microseconds, 0 if calls do not wait
     */
    public long maxWaitMicros() {
        return limits.limits().get(0).maxWait().toMillis() * 1_000;
    }

    /**
     * Whether it is decided about before a request is matched to a resource.
     *
     * @return true if its rule says so
     */
    public boolean isEarly() {
        return rule.isPresent() && rule.get().early();
    }
}
