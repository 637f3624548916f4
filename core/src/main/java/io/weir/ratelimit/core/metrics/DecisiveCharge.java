// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The charge and the quota that represent a decision in places for a single one, such as span attributes. The quota rejected the call, else
 * it is the one closest to exhaustion; null if the decision has no quotas.
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
        return new DecisiveCharge(chargeOf(event, quota), quota);
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

    /** Returns the charge of a quota. Several keys under one policy have a charge each. */
    private static Charge chargeOf(DecisionEvent event, Quota quota) {
        for (int i = 0; i < event.charges().size(); i++) {
            if (event.quotasOf(i).contains(quota)) {
                return event.charges().get(i);
            }
        }
        return firstEnforced(event.charges());
    }
}
