// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit;

import java.io.Serializable;
import java.util.List;
import java.util.Objects;

/**
 * The result of a decision for one charge: one policy applied to one key.
 *
 * @param policy the name of the policy
 * @param shadow whether the policy is in shadow mode, so that the result has no effect on the decision
 * @param quotas the quota of each limit of the policy, in declared order. They are empty if the backend has not evaluated the charge,
 *     which only happens in shadow mode
 */
public record ChargeResult(String policy, boolean shadow, List<Quota> quotas) implements Serializable {
    /** Copies the list and checks that no component is null. */
    public ChargeResult {
        Objects.requireNonNull(policy, "policy");
        quotas = List.copyOf(quotas);
    }

    /**
     * Tests whether a limit of the policy rejected the call.
     *
     * @return true if one of the quotas is {@linkplain Quota#rejected() rejected}; in shadow mode, the call would have been rejected
     */
    public boolean rejected() {
        for (int i = 0; i < quotas.size(); i++) {
            if (quotas.get(i).rejected()) {
                return true;
            }
        }
        return false;
    }
}
