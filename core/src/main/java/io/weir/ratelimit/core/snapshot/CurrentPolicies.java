// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.snapshot;

import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.policy.Policy;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The policy snapshot in force. */
public final class CurrentPolicies implements Supplier<PolicySnapshot> {
    private volatile PolicySnapshot snapshot;

    public CurrentPolicies(PolicySnapshot first) {
        this.snapshot = first;
    }

    @Override
    public PolicySnapshot get() {
        return snapshot;
    }

    public void replace(PolicySnapshot next) {
        snapshot = next;
    }

    /** Returns all policies by name. */
    public Map<String, Policy> policies() {
        return snapshot.policies();
    }

    /** Returns the origins of a policy, empty if the policy does not exist. */
    public List<Origin> origins(String policy) {
        return snapshot.origins().getOrDefault(policy, List.of());
    }
}
