// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a source for a key, and the limits that result from it under a policy. The policy is null if the answer is empty. The
 * limits are empty if those of the policy apply.
 */
record OverrideAnswer(
        Optional<LimitOverride> override, @Nullable Policy policy, Optional<PolicyLimits> limits) {
    /** An answer without limits. */
    static final OverrideAnswer NONE = new OverrideAnswer(Optional.empty(), null, Optional.empty());

    /** The tier that is shown for callers with an override. */
    static final String TIER = "override";

    /**
     * Returns the state after another answer. Limits that are equal stay the same object. Throws an {@link IllegalArgumentException} if the
     * answer is invalid under the policy.
     */
    OverrideAnswer next(Optional<LimitOverride> answer, Policy under, OverrideSources sources) {
        if (answer.isEmpty()) {
            return NONE;
        }
        if (answer.equals(override) && isUnder(under)) {
            return this;
        }
        PolicyLimits parsed = parse(answer.get(), under);
        sources.check(under, parsed);
        Optional<PolicyLimits> same = limits.filter(parsed::equals);
        return new OverrideAnswer(answer, under, same.isPresent() ? same : Optional.of(parsed));
    }

    /** Returns the state of the same answer under a changed policy. */
    OverrideAnswer under(Policy current, OverrideSources sources) {
        try {
            return next(override, current, sources);
        } catch (IllegalArgumentException e) {
            return new OverrideAnswer(override, current, Optional.empty());
        }
    }

    /** Tests whether the limits were parsed under a policy. */
    @SuppressWarnings("ReferenceEquality") // an unchanged policy is the same object
    boolean isUnder(Policy other) {
        return override.isEmpty() || policy == other;
    }

    private static PolicyLimits parse(LimitOverride override, Policy policy) {
        OptionalLong burst = override.burst();
        LimitForm form = policy.form().with(override);
        List<Limit> limits = LimitParser.parse(
                override.limit(), form, burst.isPresent() ? Optional.of(burst.getAsLong()) : Optional.empty());
        return limits(policy, form, limits);
    }

    /**
     * Returns the limits of one key with the concurrency of a form. Throws an {@link IllegalArgumentException} if the policy cannot have
     * the limits.
     */
    static PolicyLimits limits(Policy policy, LimitForm form, List<Limit> limits) {
        Limit model = policy.limits().limits().get(0);
        PolicyLimits ofKey = new PolicyLimits(
                policy.name(),
                TIER,
                form.withSlots(limits).stream()
                        .map(limit -> limit.withMaxWait(model.maxWait()))
                        .toList());
        return LeaseReader.withLease(ofKey, policy.limits().lease());
    }
}
