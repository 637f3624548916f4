// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.operate;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.interceptor.engine.StoreHealth;
import io.weir.ratelimit.interceptor.engine.StoredKeys;
import io.weir.ratelimit.interceptor.heavy.HeavyKeys;
import io.weir.ratelimit.interceptor.key.ShownKeys;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import java.util.TreeSet;

/** What can be seen of and done at one deployment. */
public final class InstanceOperations implements Operations {
    private final Access access;
    private final StoreHealth health;
    private final KnownPolicies policies;
    private final Readings readings;
    private final HeavyKeys heavy;
    private final ShownKeys keys;
    private final StoredKeys stored;

    /**
     * Of a deployment.
     *
     * @param access who may see the operators' page
     * @param health knows how the store is
     * @param policies the policies at the moment
     * @param readings knows what came of reading configuration
     * @param heavy knows who is decided about most
     * @param keys how keys are shown
     * @param stored asks the store about keys
     */
    public InstanceOperations(
            Access access,
            StoreHealth health,
            KnownPolicies policies,
            Readings readings,
            HeavyKeys heavy,
            ShownKeys keys,
            StoredKeys stored) {
        this.access = access;
        this.health = health;
        this.policies = policies;
        this.readings = readings;
        this.heavy = heavy;
        this.keys = keys;
        this.stored = stored;
    }

    @Override
    public Access access() {
        return access;
    }

    @Override
    public StoreHealth.Report store() {
        return health.report();
    }

    @Override
    public List<PolicyView> policies() {
        return policies.views();
    }

    @Override
    public Reading lastReading() {
        return readings.last();
    }

    @Override
    public TopKeys topKeys(String policy) {
        return heavy.top(policies.named(policy).name());
    }

    @Override
    public Caller caller(String policy, int alternative, List<String> parts) {
        return caller(policy, policies.named(policy).key().named(alternative, parts));
    }

    @Override
    public Caller caller(String policy, Identity key) {
        return known(policy, stored.of(policies.named(policy), key));
    }

    private Caller known(String policy, String identity) {
        return new Caller(policy, identity, keys.of(identity));
    }

    @Override
    public Caller shown(String policy, String shownKey) {
        policies.named(policy);
        String key = shownKey.strip();
        return keys.stored(key)
                .or(() -> heavy.identity(policy, key))
                .map(identity -> known(policy, identity))
                .orElseThrow(
                        () -> new IllegalArgumentException("this key of " + policy + " cannot be told from its hash:"
                                + " without ratelimit.key-secret only those can that this instance lists, with it those that logs"
                                + " and spans show"));
    }

    @Override
    public List<Quota> peek(Caller caller, String tier) {
        Policy policy = policies.named(caller.policy());
        if (!tier.isEmpty() && !policy.tiers().limits().containsKey(tier)) {
            throw new IllegalArgumentException("the policy " + policy.name() + " has no tier \"" + tier + "\", but "
                    + new TreeSet<>(policy.tiers().limits().keySet()));
        }
        return stored.peek(policy, caller.identity(), tier.isEmpty() ? PolicyLimits.NO_TIER : tier);
    }

    @Override
    public void reset(Caller caller) {
        stored.reset(policies.named(caller.policy()), caller.identity());
    }
}
