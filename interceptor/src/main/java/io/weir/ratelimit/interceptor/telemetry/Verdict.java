// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The one charge and limit by which a decision is described where there is room for one only.
 *
 * @param charge whose limit it is
 * @param quota the limit that refused, else the one closest to exhaustion; null if nothing is known
 */
record Verdict(Charge charge, @Nullable Quota quota) {
    static Verdict of(DecisionEvent event) {
        Decision decision = event.decision();
        List<Charge> charges = event.charges();
        if (decision.quotas().isEmpty()) {
            return new Verdict(firstEnforced(charges), null);
        }
        Quota quota = decision instanceof Decision.Rejected rejected
                ? rejected.decisiveQuota()
                : Quota.closestToExhaustion(decision.quotas());
        return new Verdict(charged(charges, quota.policy()), quota);
    }

    /** Of a call that only policies in shadow mode apply to, the first of these. */
    private static Charge firstEnforced(List<Charge> charges) {
        for (Charge charge : charges) {
            if (!charge.shadow()) {
                return charge;
            }
        }
        return charges.get(0);
    }

    /** No two charges of a decision are of one policy, but for keys that code chooses. */
    private static Charge charged(List<Charge> charges, String policy) {
        for (Charge charge : charges) {
            if (charge.policy().policy().equals(policy)) {
                return charge;
            }
        }
        return charges.get(0);
    }
}
