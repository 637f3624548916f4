// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The charge and the quota that represent a decision in places for a single one, such as span attributes.
 *
 * @param charge the charge to which the quota belongs
 * @param quota the quota that rejected the call, else the one closest to exhaustion; null if the decision has no quotas
 */
record DecisiveCharge(Charge charge, @Nullable Quota quota) {
    public static DecisiveCharge of(DecisionEvent event) {
        Decision decision = event.decision();
        List<Charge> charges = event.charges();
        if (decision.quotas().isEmpty()) {
            return new DecisiveCharge(firstEnforced(charges), null);
        }
        Quota quota = decision instanceof Decision.Rejected rejected
                ? rejected.decisiveQuota()
                : Quota.closestToExhaustion(decision.quotas());
        return new DecisiveCharge(chargeOf(charges, quota.policy()), quota);
    }

    /** Returns the first charge of an enforced policy, or the first charge if all policies are in shadow mode. */
    private static Charge firstEnforced(List<Charge> charges) {
        for (Charge charge : charges) {
            if (!charge.shadow()) {
                return charge;
            }
        }
        return charges.get(0);
    }

    /** Returns the first charge of a policy. A decision has several only for keys that application code selects. */
    private static Charge chargeOf(List<Charge> charges, String policy) {
        for (Charge charge : charges) {
            if (charge.policy().policy().equals(policy)) {
                return charge;
            }
        }
        return charges.get(0);
    }
}
