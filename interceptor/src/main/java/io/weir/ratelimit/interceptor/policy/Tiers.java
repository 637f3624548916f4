// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.TierResolver;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** The limits of a policy that differ by the caller's tier. A caller of another tier, or of none, has the policy's own. */
public final class Tiers {
    /** Of a policy whose limits are the same for all. */
    public static final Tiers NONE = new Tiers("", call -> Optional.empty(), Map.of());

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final String named;
    private final TierResolver resolver;
    private final Map<String, PolicyLimits> limits;
    private final AtomicBoolean failed = new AtomicBoolean();

    /**
     * Tiers.
     *
     * @param named what names the caller's tier, as configuration says it
     * @param resolver the same
     * @param limits the limits of each tier
     */
    public Tiers(String named, TierResolver resolver, Map<String, PolicyLimits> limits) {
        this.named = named;
        this.resolver = resolver;
        this.limits = Map.copyOf(limits);
    }

    /**
     * The limits that hold for a call.
     *
     * @param call who calls
     * @param own the policy's own
     * @return those of the caller's tier, or the policy's own
     */
    public PolicyLimits of(CallContext call, PolicyLimits own) {
        return limits.isEmpty() ? own : limits.getOrDefault(tier(call), own);
    }

    private String tier(CallContext call) {
        try {
            // A resolver is the application's, which may well answer null.
            Optional<String> tier = resolver.tier(call);
            return tier == null ? "" : tier.orElse("");
        } catch (RuntimeException e) {
            if (failed.compareAndSet(false, true)) {
                LOG.log(
                        Level.WARNING,
                        "WEIR-310 the tier by " + named + " failed, so the policy's own limits hold; said once",
                        e);
            }
            return "";
        }
    }

    /**
     * The limits by tier.
     *
     * @return none if the limits are the same for all
     */
    public Map<String, PolicyLimits> limits() {
        return limits;
    }

    /** Whether the same names the tier, and the tiers have the same limits. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Tiers that && named.equals(that.named) && limits.equals(that.limits);
    }

    @Override
    public int hashCode() {
        return 31 * named.hashCode() + limits.hashCode();
    }

    /** What names the tier. */
    @Override
    public String toString() {
        return named;
    }
}
