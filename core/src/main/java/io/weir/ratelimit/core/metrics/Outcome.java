// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.util.List;
import java.util.Locale;

/** The outcome of one policy in a decision. The names are values of metric tags. */
public enum Outcome {
    /** The policy had room, also if the call waits for its slot, and was charged. */
    ALLOWED,
    /** The policy had no room. */
    REJECTED,
    /** The key of the call is blocked under the policy. */
    BLOCKED,
    /** The policy was not charged, because another policy rejected the call. */
    NOT_CHARGED,
    /** The policy had no room and is in shadow mode, so the call was not rejected. */
    SHADOW_REJECTED,
    /** The policy was decided without the backend, and the call was allowed. */
    DEGRADED_ALLOWED,
    /** The policy was decided without the backend, and the call was rejected. */
    DEGRADED_REJECTED,
    /** The caller bypasses all limits by configuration. */
    BYPASSED;

    private final String tag = name().toLowerCase(Locale.ROOT);

    /** Returns the name of the outcome in metrics, such as {@code not_charged}. */
    public String tag() {
        return tag;
    }

    /** Returns the outcome of a charge, never {@link #BYPASSED}, because a bypassed call has no decision. */
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
                boolean blocked = quotas.get(i).blocked();
                return charge.shadow() ? SHADOW_REJECTED : blocked ? BLOCKED : REJECTED;
            }
        }
        return decision.allowed() ? ALLOWED : NOT_CHARGED;
    }

    /** Tests whether the quotas of a policy have a spent part: there are some, and the key is not blocked. */
    public static boolean hasUtilization(List<Quota> quotas) {
        return !quotas.isEmpty() && !quotas.get(0).blocked();
    }

    /** Returns the spent part of the fullest limit of a policy, from 0 to 1; 0 without quotas. */
    public static double utilization(List<Quota> quotas) {
        double fullest = 0;
        for (int i = 0; i < quotas.size(); i++) {
            Quota quota = quotas.get(i);
            fullest = Math.max(fullest, utilization(quota.capacity(), quota.remaining()));
        }
        return fullest;
    }

    /** Returns the spent part of a limit, from 0 to 1. A limit of zero permits counts as fully spent. */
    public static double utilization(long capacity, long remaining) {
        return capacity == 0 ? 1 : Math.max(0, 1 - (double) remaining / capacity);
    }
}
