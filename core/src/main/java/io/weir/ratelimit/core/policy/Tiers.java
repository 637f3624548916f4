// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** The limits of a policy by the tier of the caller. The limits of the policy itself apply to all other callers. */
public final class Tiers {
    /** No tiers: the policy has the same limits for all callers. */
    public static final Tiers NONE = new Tiers("", call -> Optional.empty(), Map.of());

    private final String expression;
    private final TierSelector selector;
    private final Map<String, PolicyLimits> limits;
    private final AtomicBoolean failed = new AtomicBoolean();
    private final AtomicBoolean similar = new AtomicBoolean();

    /** Creates tiers, with the configured text that selects one. */
    public Tiers(String expression, TierSelector selector, Map<String, PolicyLimits> limits) {
        this.expression = expression;
        this.selector = selector;
        this.limits = Map.copyOf(limits);
    }

    /** Returns the limits of the caller's tier, otherwise those of the policy. */
    public PolicyLimits of(CallContext call, PolicyLimits ofPolicy) {
        if (limits.isEmpty()) {
            return ofPolicy;
        }
        String tier = tier(call);
        PolicyLimits known = limits.get(tier);
        if (known == null && !similar.get()) {
            warnOfSimilar(tier, ofPolicy.policy());
        }
        return known == null ? ofPolicy : known;
    }

    /** Reports a tier with another spelling. Another text can be a tier whose limits are those of the policy. */
    private void warnOfSimilar(String tier, String policy) {
        String text = tier.strip();
        limits.keySet().stream()
                .filter(text::equalsIgnoreCase)
                .findFirst()
                .filter(known -> similar.compareAndSet(false, true))
                .ifPresent(known -> MESSAGES.log("WEIR-339", policy, text, known));
    }

    private String tier(CallContext call) {
        try {
            return selector.tier(call).orElse("");
        } catch (RuntimeException | Error e) {
            if (failed.compareAndSet(false, true)) {
                MESSAGES.log(e, "WEIR-310", expression);
            }
            return "";
        }
    }

    /** Tests whether the application selects the tiers, with code that can block; false if there are no tiers. */
    public boolean callResolver() {
        return !limits.isEmpty() && selector.callsResolver();
    }

    /** Returns the limits by tier; empty if there are no tiers. */
    public Map<String, PolicyLimits> limits() {
        return limits;
    }

    /** Compares the expression and the limits. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Tiers that && expression.equals(that.expression) && limits.equals(that.limits);
    }

    @Override
    public int hashCode() {
        return 31 * expression.hashCode() + limits.hashCode();
    }

    @Override
    public String toString() {
        return expression;
    }
}
