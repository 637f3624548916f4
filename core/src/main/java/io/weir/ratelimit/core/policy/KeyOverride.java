// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.Optional;

/** The limits of one key. It holds the stored key, and not the key, because a client can have sent megabytes. */
record KeyOverride(OverrideSources sources, CachedAnswer<OverrideAnswer> answer) {
    /** Returns the limits of the last answer under the current policy. */
    Optional<PolicyLimits> limits(Policy policy) {
        OverrideAnswer last = answer.get();
        if (last.isUnder(policy)) {
            return last.limits();
        }
        OverrideAnswer current = last.under(policy, sources);
        answer.replace(last, current);
        return current.limits();
    }

    /** Starts a look-up if the last answer is too old and no look-up runs. */
    void refreshIfStale(Policy policy, Identity key) {
        if (answer.isStale()) {
            answer.refresh(policy.name(), () -> {
                Optional<LimitOverride> limits = sources.find(policy.name(), key);
                return last -> last.next(limits, policy, sources);
            });
        }
    }
}
