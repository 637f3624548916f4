// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What can be asked of the store about a key of which only the stored form is known, and with it neither the caller nor the tier.
 */
public final class KeyAdministration {
    private final RateLimitEngine engine;
    private final Overrides overrides;

    /**
     * The keys of a store.
     *
     * @param engine asks the store
     * @param overrides the limits of single keys
     */
    public KeyAdministration(RateLimitEngine engine, Overrides overrides) {
        this.engine = engine;
        this.overrides = overrides;
    }

    /**
     * The stored form of a key, whose own limits are looked up if there can be any.
     *
     * @param policy the policy
     * @param key the key
     * @return the stored form
     */
    public String of(Policy policy, Identity key) {
        String stored = engine.encoder().encode(key);
        overrides.await(policy, key, stored);
        return stored;
    }

    /**
     * What a key has left, without spending: under its own limits if any are remembered, else under those of a tier.
     *
     * @param policy the policy
     * @param stored the key in its stored form
     * @param tier the tier, {@link PolicyLimits#NO_TIER} for the policy's own limits
     * @return one quota per limit
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the store does not answer
     */
    public List<Quota> peek(Policy policy, String stored, String tier) {
        PolicyLimits limits =
                overrides.cached(policy, stored).orElse(policy.tiers().limits().getOrDefault(tier, policy.limits()));
        Charge charge = new Charge(limits, stored, policy.cost(), policy.maxWaitMicros());
        return engine.call(backend -> backend.peek(charge));
    }

    /**
     * Makes a key as good as untouched under all limits that it can have been under.
     *
     * @param policy the policy
     * @param stored the key in its stored form
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the store does not answer
     */
    public void reset(Policy policy, String stored) {
        Map<List<String>, PolicyLimits> distinct = new LinkedHashMap<>();
        add(distinct, policy.limits());
        new TreeMap<>(policy.tiers().limits()).values().forEach(limits -> add(distinct, limits));
        overrides.cached(policy, stored).ifPresent(limits -> add(distinct, limits));
        engine.call(backend -> {
            distinct.values().forEach(limits -> backend.reset(limits, stored));
            return true;
        });
    }

    /** Limits that are kept under the same keys are the same to a reset. */
    private static void add(Map<List<String>, PolicyLimits> distinct, PolicyLimits limits) {
        List<String> tails = new ArrayList<>();
        for (int i = 0; i < limits.limits().size(); i++) {
            tails.add(limits.storedKeySuffix(i));
        }
        distinct.putIfAbsent(tails, limits);
    }
}
