// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The limits that an operator set for one key, parsed again under each version of the policy. */
final class RuntimeOverride {
    private final Map<String, String> values;
    private volatile @Nullable Parsed last;

    private record Parsed(Policy policy, Optional<PolicyLimits> limits) {}

    RuntimeOverride(Map<String, String> values) {
        this.values = Map.copyOf(values);
    }

    Map<String, String> values() {
        return values;
    }

    /** Returns the limits; empty if the values are invalid under the policy, whose limits then apply. */
    @SuppressWarnings("ReferenceEquality") // an unchanged policy is the same object
    Optional<PolicyLimits> limits(Policy policy) {
        Parsed known = last;
        if (known != null && known.policy() == policy) {
            return known.limits();
        }
        Optional<PolicyLimits> limits = OverrideReader.read(policy, values, new Problems());
        Optional<PolicyLimits> same = known == null ? Optional.empty() : known.limits();
        Optional<PolicyLimits> current = limits.equals(same) ? same : limits;
        last = new Parsed(policy, current);
        return current;
    }
}
