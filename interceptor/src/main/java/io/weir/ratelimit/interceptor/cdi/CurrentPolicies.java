// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.config.Origin;
import io.weir.ratelimit.core.policy.Policy;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The policy snapshot in force. */
final class CurrentPolicies implements Supplier<PolicySnapshot> {
    private volatile PolicySnapshot snapshot;

    CurrentPolicies(PolicySnapshot first) {
        this.snapshot = first;
    }

    @Override
    public PolicySnapshot get() {
        return snapshot;
    }

    void replace(PolicySnapshot next) {
        snapshot = next;
    }

    /** Returns all policies by name. */
    Map<String, Policy> policies() {
        return snapshot.policies();
    }

    /** Returns the origins of a policy, empty if the policy does not exist. */
    List<Origin> origins(String policy) {
        return snapshot.origins().getOrDefault(policy, List.of());
    }
}
