// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.instance.InstanceCallers;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/** The operations on this instance. */
public final class InstanceOperations implements Operations {
    private final ConsoleSettings console;
    private final KnownPolicies policies;
    private final Supplier<Reading> lastReading;
    private final Backend backend;
    private final InstanceCallers callers;
    private final Changes changes;
    private final ToIntFunction<String> slots;

    /**
     * The backend.
     *
     * @param fleetStore the store of the reports of all instances
     * @param instances returns the number of instances, which failure modes use
     */
    public record Backend(BackendHealth health, Optional<FleetStore> fleetStore, IntSupplier instances) {}

    /** The runtime changes; empty if they are not enabled. */
    public record Changes(Optional<RuntimeChanges> all, Optional<String> role) {
        /** No changes. */
        public static final Changes NONE = new Changes(Optional.empty(), Optional.empty());
    }

    /**
     * Creates the operations.
     *
     * @param lastReading returns the last result of reading the configuration
     * @param slots returns the number of slots that running calls of this instance hold, by policy
     */
    public InstanceOperations(
            ConsoleSettings console,
            KnownPolicies policies,
            Supplier<Reading> lastReading,
            Backend backend,
            InstanceCallers callers,
            Changes changes,
            ToIntFunction<String> slots) {
        this.console = console;
        this.policies = policies;
        this.lastReading = lastReading;
        this.backend = backend;
        this.callers = callers;
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
        return lastReading.get();
    }

    @Override
    public TopKeys topKeys(String policy) {
        return callers.top().top(callers.policy(policy).name());
    }

    @Override
    public TopKeys storedTopKeys(String policy) {
        return callers.top().stored(callers.policy(policy).name());
    }

    @Override
    public Optional<FleetStore> fleetStore() {
        return backend.fleetStore();
    }

    @Override
    public int numberOfInstances() {
        return backend.instances().getAsInt();
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
        return callers.callerByStoredKey(policy, storedKey);
    }

    @Override
    public String storedKey(Caller caller) {
        return callers.storedKey(caller);
    }

    @Override
    public Caller caller(String policy, int alternative, List<String> values) {
        return callers.caller(policy, alternative, values);
    }

    @Override
    public Caller caller(String policy, Identity key) {
        return callers.caller(policy, key);
    }

    @Override
    public Caller callerByMaskedKey(String policy, String maskedKey) {
        return callers.callerByMaskedKey(policy, maskedKey);
    }

    @Override
    public List<Quota> peek(Caller caller, String tier) {
        return callers.peek(caller, tier);
    }

    @Override
    public void reset(Caller caller) {
        callers.reset(caller);
    }

    @Override
    public Duration block(Caller caller, Duration duration) {
        return callers.block(caller, duration);
    }

    @Override
    public void unblock(Caller caller) {
        callers.unblock(caller);
    }

    @Override
    public Map<String, Integer> runningCalls() {
        Map<String, Integer> running = new TreeMap<>();
        for (Policy policy : policies.policies().get().values()) {
            if (policy.hasConcurrency()) {
                running.put(policy.name(), slots.applyAsInt(policy.name()));
            }
        }
        return running;
    }

    @Override
    public KnownBlocks blocks() {
        return callers.blocks();
    }
}
