// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.changes.RuntimeChanges;
import io.weir.ratelimit.core.config.ConsoleSettings;
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
    private final ConsoleSettings console;
    private final KnownPolicies policies;
    private final Readings readings;
    private final Backend backend;
    private final Keys keys;
    private final Changes changes;
    private final HeldSlots slots;

    /**
     * The backend.
     *
     * @param health its health
     * @param fleetStore the store of the reports of all instances
     */
    public record Backend(BackendHealth health, Optional<FleetStore> fleetStore) {}

    /**
     * The keys of callers.
     *
     * @param stored the operations on stored keys
     * @param top the top keys of this instance
     * @param blocks the blocks that this instance knows of
     * @param masker masks keys
     */
    public record Keys(KeyAdministration stored, TopKeysTracker top, KnownBlocks blocks, KeyMasker masker) {}

    /**
     * The runtime changes; empty if they are not enabled.
     *
     * @param all the changes
     * @param role the role that makes changes
     */
    public record Changes(Optional<RuntimeChanges> all, Optional<String> role) {
        /** No changes. */
        public static final Changes NONE = new Changes(Optional.empty(), Optional.empty());
    }

    /**
     * Creates the operations.
     *
     * @param console the settings of the console
     * @param policies the current policies
     * @param readings the results of reading the configuration
     * @param backend the backend
     * @param keys the keys of callers
     * @param changes the runtime changes
     * @param slots the slots of running calls
     */
    public InstanceOperations(
            ConsoleSettings console,
            KnownPolicies policies,
            Readings readings,
            Backend backend,
            Keys keys,
            Changes changes,
            HeldSlots slots) {
        this.console = console;
        this.policies = policies;
        this.readings = readings;
        this.backend = backend;
        this.keys = keys;
        this.changes = changes;
        this.slots = slots;
    }

    @Override
    public Access access() {
        return new Access(console.enabled(), console.role(), console.open());
    }

    @Override
    public BackendHealth.Report backend() {
        return backend.health().report();
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
        return keys.top().top(policies.named(policy).name());
    }

    @Override
    public TopKeys storedTopKeys(String policy) {
        return keys.top().stored(policies.named(policy).name());
    }

    @Override
    public Optional<FleetStore> fleetStore() {
        return backend.fleetStore();
    }

    @Override
    public Optional<String> grafana() {
        return console.grafana();
    }

    @Override
    public Optional<RuntimeChanges> changes() {
        return changes.all();
    }

    @Override
    public Optional<String> changesRole() {
        return changes.role();
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
        return known(policy, keys.stored().storedKey(policies.named(policy), key));
    }

    private Caller known(String policy, String storedKey) {
        return new StoredCaller(policy, storedKey, keys.masker().of(storedKey));
    }

    @Override
    public Caller callerByMaskedKey(String policy, String maskedKey) {
        policies.named(policy);
        String key = maskedKey.strip();
        return keys.masker()
                .stored(key)
                .or(() -> keys.top().storedKey(policy, key))
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
        return keys.stored()
                .peek(policy, StoredCaller.storedKeyOf(caller), tier.isEmpty() ? PolicyLimits.NO_TIER : tier);
    }

    @Override
    public void reset(Caller caller) {
        keys.stored().reset(policies.named(caller.policy()), StoredCaller.storedKeyOf(caller));
        keys.blocks().ended(caller.policy(), StoredCaller.storedKeyOf(caller));
    }

    @Override
    public Duration block(Caller caller, Duration duration) {
        String storedKey = StoredCaller.storedKeyOf(caller);
        Duration rest = keys.stored().block(policies.named(caller.policy()), storedKey, duration);
        keys.blocks().blocked(caller.policy(), storedKey, rest);
        return rest;
    }

    @Override
    public void unblock(Caller caller) {
        keys.stored().unblock(policies.named(caller.policy()), StoredCaller.storedKeyOf(caller));
        keys.blocks().ended(caller.policy(), StoredCaller.storedKeyOf(caller));
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
        return keys.blocks();
    }
}
