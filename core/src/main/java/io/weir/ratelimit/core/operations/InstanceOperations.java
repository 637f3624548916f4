// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.changes.RuntimeChanges;
import io.weir.ratelimit.core.engine.KeyAdministration;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.slots.HeldSlots;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** The operations on this instance. */
public final class InstanceOperations implements Operations {
    private final Access access;
    private final BackendHealth health;
    private final KnownPolicies policies;
    private final Readings readings;
    private final TopKeysTracker topKeys;
    private final KeyMasker masker;
    private final KeyAdministration keys;
    private final Optional<FleetStore> fleetStore;
    private final Optional<String> grafana;
    private final Optional<RuntimeChanges> changes;
    private final Optional<String> changesRole;
    private final HeldSlots slots;
    private final KnownBlocks blocks;

    /**
     * Creates the operations.
     *
     * @param access the access to the console
     * @param health the health of the backend
     * @param policies the current policies
     * @param readings the results of reading the configuration
     * @param topKeys the top keys of this instance
     * @param masker masks keys
     * @param keys the operations on stored keys
     * @param fleetStore the store of the reports of all instances
     * @param grafana the address of dashboards
     * @param changes the runtime changes; empty if they are not enabled
     * @param changesRole the role that makes changes; empty if they are not enabled
     * @param slots the slots of running calls
     * @param blocks the blocks that this instance knows of
     */
    public InstanceOperations(
            Access access,
            BackendHealth health,
            KnownPolicies policies,
            Readings readings,
            TopKeysTracker topKeys,
            KeyMasker masker,
            KeyAdministration keys,
            Optional<FleetStore> fleetStore,
            Optional<String> grafana,
            Optional<RuntimeChanges> changes,
            Optional<String> changesRole,
            HeldSlots slots,
            KnownBlocks blocks) {
        this.access = access;
        this.health = health;
        this.policies = policies;
        this.readings = readings;
        this.topKeys = topKeys;
        this.masker = masker;
        this.keys = keys;
        this.fleetStore = fleetStore;
        this.grafana = grafana;
        this.changes = changes;
        this.changesRole = changesRole;
        this.slots = slots;
        this.blocks = blocks;
    }

    @Override
    public Access access() {
        return access;
    }

    @Override
    public BackendHealth.Report backend() {
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
        return topKeys.top(policies.named(policy).name());
    }

    @Override
    public TopKeys storedTopKeys(String policy) {
        return topKeys.stored(policies.named(policy).name());
    }

    @Override
    public Optional<FleetStore> fleetStore() {
        return fleetStore;
    }

    @Override
    public Optional<String> grafana() {
        return grafana;
    }

    @Override
    public Optional<RuntimeChanges> changes() {
        return changes;
    }

    @Override
    public Optional<String> changesRole() {
        return changesRole;
    }

    @Override
    public Caller callerByStoredKey(String policy, String storedKey) {
        return known(policy, storedKey);
    }

    @Override
    public String storedKey(Caller caller) {
        return StoredCaller.storedKeyOf(caller);
    }

    @Override
    public Caller caller(String policy, int alternative, List<String> values) {
        return caller(policy, policies.named(policy).key().named(alternative, values));
    }

    @Override
    public Caller caller(String policy, Identity key) {
        return known(policy, keys.storedKey(policies.named(policy), key));
    }

    private Caller known(String policy, String storedKey) {
        return new StoredCaller(policy, storedKey, masker.of(storedKey));
    }

    @Override
    public Caller callerByMaskedKey(String policy, String maskedKey) {
        policies.named(policy);
        String key = maskedKey.strip();
        return masker.stored(key)
                .or(() -> topKeys.storedKey(policy, key))
                .map(storedKey -> known(policy, storedKey))
                .orElseThrow(
                        () -> new IllegalArgumentException("this key of " + policy + " cannot be found by its hash:"
                                + " without ratelimit.key-secret, enter a key that this instance lists; with it, a key that logs"
                                + " and spans show"));
    }

    @Override
    public List<Quota> peek(Caller caller, String tier) {
        Policy policy = policies.named(caller.policy());
        if (!tier.isEmpty() && !policy.tiers().limits().containsKey(tier)) {
            throw new IllegalArgumentException("the policy " + policy.name() + " has no tier \"" + tier + "\", but "
                    + new TreeSet<>(policy.tiers().limits().keySet()));
        }
        return keys.peek(policy, StoredCaller.storedKeyOf(caller), tier.isEmpty() ? PolicyLimits.NO_TIER : tier);
    }

    @Override
    public void reset(Caller caller) {
        keys.reset(policies.named(caller.policy()), StoredCaller.storedKeyOf(caller));
        blocks.ended(caller.policy(), StoredCaller.storedKeyOf(caller));
    }

    @Override
    public Duration block(Caller caller, Duration duration) {
        String storedKey = StoredCaller.storedKeyOf(caller);
        Duration rest = keys.block(policies.named(caller.policy()), storedKey, duration);
        blocks.blocked(caller.policy(), storedKey, rest);
        return rest;
    }

    @Override
    public void unblock(Caller caller) {
        keys.unblock(policies.named(caller.policy()), StoredCaller.storedKeyOf(caller));
        blocks.ended(caller.policy(), StoredCaller.storedKeyOf(caller));
    }

    @Override
    public Map<String, Integer> runningCalls() {
        Map<String, Integer> running = new TreeMap<>();
        for (Policy policy : policies.policies().get().values()) {
            if (policy.hasConcurrency()) {
                running.put(policy.name(), slots.held(policy.name()));
            }
        }
        return running;
    }

    @Override
    public KnownBlocks blocks() {
        return blocks;
    }
}
