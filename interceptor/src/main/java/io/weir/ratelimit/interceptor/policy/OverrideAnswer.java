// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What a source answered about a key, and the limits that this makes.
 *
 * @param told the answer
 * @param policy the policy under which it was understood, null if there was nothing to understand
 * @param limits the limits, empty if the policy's own hold
 */
record OverrideAnswer(
        Optional<LimitOverride> told, @Nullable Policy policy, Optional<PolicyLimits> limits) {
    /** The source has no limits for the key. */
    static final OverrideAnswer NONE = new OverrideAnswer(Optional.empty(), null, Optional.empty());

    /** The tier that the callers of an override are shown in. */
    static final String TIER = "override";

    /**
     * The answer that follows this one. What is as before stays the very same object.
     *
     * @throws IllegalArgumentException if it cannot be used under the policy
     */
    OverrideAnswer next(Optional<LimitOverride> answer, Policy under) {
        if (answer.isEmpty()) {
            return NONE;
        }
        if (answer.equals(told) && isUnder(under)) {
            return this;
        }
        PolicyLimits parsed = parse(answer.get(), under);
        Optional<PolicyLimits> same = limits.filter(parsed::equals);
        return new OverrideAnswer(answer, under, same.isPresent() ? same : Optional.of(parsed));
    }

    /** The same answer after the policy may have changed. */
    OverrideAnswer under(Policy now) {
        try {
            return next(told, now);
        } catch (IllegalArgumentException e) {
            return new OverrideAnswer(told, now, Optional.empty());
        }
    }

    /** Whether the limits are those under a policy. */
    @SuppressWarnings("ReferenceEquality") // a policy that did not change stays the same object
    boolean isUnder(Policy other) {
        return told.isEmpty() || policy == other;
    }

    private static PolicyLimits parse(LimitOverride override, Policy policy) {
        Limit model = policy.limits().limits().get(0);
        OptionalLong burst = override.burst();
        List<Limit> limits = LimitParser.parse(
                override.limit(),
                model.algorithm(),
                burst.isPresent() ? Optional.of(burst.getAsLong()) : Optional.empty());
        PolicyLimits own = new PolicyLimits(
                policy.name(),
                TIER,
                limits.stream().map(limit -> limit.withMaxWait(model.maxWait())).toList());
        return LeaseReader.leased(own, policy.limits().lease());
    }
}
