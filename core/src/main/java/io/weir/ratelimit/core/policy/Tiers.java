// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.TierResolver;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** The limits of a policy by the tier of the caller. The limits of the policy itself apply to all other callers. */
public final class Tiers {
    /** No tiers: the policy has the same limits for all callers. */
    public static final Tiers NONE = new Tiers("", call -> Optional.empty(), Map.of());

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final String selector;
    private final TierResolver resolver;
    private final Map<String, PolicyLimits> limits;
    private final AtomicBoolean failed = new AtomicBoolean();

    /**
     * Creates tiers.
     *
     * @param selector the configured text that selects the tier
     * @param resolver determines the tier of a caller
     * @param limits the limits by tier
     */
    public Tiers(String selector, TierResolver resolver, Map<String, PolicyLimits> limits) {
        this.selector = selector;
        this.resolver = resolver;
        this.limits = Map.copyOf(limits);
    }

    /**
     * Returns the limits that apply to a call.
     *
     * @param call the call
     * @param ofPolicy the limits of the policy itself
     * @return the limits of the caller's tier, otherwise those of the policy
     */
    public PolicyLimits of(CallContext call, PolicyLimits ofPolicy) {
        return limits.isEmpty() ? ofPolicy : limits.getOrDefault(tier(call), ofPolicy);
    }

    private String tier(CallContext call) {
        try {
            // A resolver of the application can return null.
            Optional<String> tier = resolver.tier(call);
            return tier == null ? "" : tier.orElse("");
        } catch (RuntimeException e) {
            if (failed.compareAndSet(false, true)) {
                MESSAGES.log(LOG, e, "WEIR-310", selector);
            }
            return "";
        }
    }

    /**
     * Returns the limits by tier.
     *
     * @return the limits, empty if there are no tiers
     */
    public Map<String, PolicyLimits> limits() {
        return limits;
    }

    /** Compares the selector and the limits. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Tiers that && selector.equals(that.selector) && limits.equals(that.limits);
    }

    @Override
    public int hashCode() {
        return 31 * selector.hashCode() + limits.hashCode();
    }

    /** Returns the selector. */
    @Override
    public String toString() {
        return selector;
    }
}
