// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.util.List;
import java.util.Locale;

/** What came of one policy in a decision. The names are used as metric tags. */
public enum Outcome {
    /** It had room, or its calls wait for their slots, and was charged. */
    ALLOWED,
    /** It had no room. */
    REJECTED,
    /** Another policy refused. */
    NOT_CHARGED,
    /** A policy in shadow mode had no room, which refuses nobody. */
    SHADOW_REJECTED,
    /** Decided without the store: the call went on. */
    DEGRADED_ALLOWED,
    /** Decided without the store: the call was refused. */
    DEGRADED_REJECTED,
    /** Configuration lets the caller past all limits. */
    BYPASSED;

    private final String tag = name().toLowerCase(Locale.ROOT);

    /**
     * The outcome's name in metrics.
     *
     * @return the name, such as {@code not_charged}
     */
    public String tag() {
        return tag;
    }

    /**
     * What came of a charge.
     *
     * @param event the decision
     * @param index the charge's position in it
     * @return what came of it, never {@link #BYPASSED}, which is no decision
     */
    public static Outcome of(DecisionEvent event, int index) {
        Decision decision = event.decision();
        Charge charge = event.charges().get(index);
        List<Quota> quotas = event.quotasOf(index);
        boolean unknown = charge.shadow() && quotas.isEmpty();
        if (decision instanceof Decision.Degraded || (unknown && decision.allowed())) {
            return decision.allowed() ? DEGRADED_ALLOWED : DEGRADED_REJECTED;
        }
        for (int i = 0; i < quotas.size(); i++) {
            if (quotas.get(i).rejected()) {
                return charge.shadow() ? SHADOW_REJECTED : REJECTED;
            }
        }
        return decision.allowed() ? ALLOWED : NOT_CHARGED;
    }

    /**
     * The part of its capacity that the fullest limit of a policy has given away; all of it where nothing is permitted.
     *
     * @param quotas what the limits of the policy said
     * @return from 0 to 1, 0 if nothing is known
     */
    public static double utilization(List<Quota> quotas) {
        double fullest = 0;
        for (int i = 0; i < quotas.size(); i++) {
            Quota quota = quotas.get(i);
            fullest = Math.max(fullest, quota.capacity() == 0 ? 1 : 1 - (double) quota.remaining() / quota.capacity());
        }
        return fullest;
    }
}
