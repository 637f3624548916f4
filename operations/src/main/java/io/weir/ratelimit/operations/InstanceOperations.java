// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.core.snapshot.Reading;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import io.weir.ratelimit.runtime.HostedWeir;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The operations on this instance. The runtime changes are empty if they are not enabled. */
record InstanceOperations(
        ConsoleSettings console,
        HostedWeir weir,
        KnownPolicies known,
        Optional<RuntimeChanges> changes,
        Optional<String> changesRole)
        implements Operations {
    @Override
    public Access access() {
        return new Access(console.enabled(), console.role(), console.open());
    }

    @Override
    public BackendHealth.Report backend() {
        return weir.health().report();
    }

    @Override
    public List<PolicyView> policies() {
        return known.views();
    }

    @Override
    public Reading lastReading() {
        return weir.readings().last();
    }

    @Override
    public TopKeys storedTopKeys(String policy) {
        return weir.callers().top().stored(weir.callers().policy(policy).name());
    }

    @Override
    public boolean isEnforced(String policy, String storedKey) {
        return weir.policies()
                .policy(policy)
                .filter(known -> known.canReject() && !known.isShadowFor(storedKey))
                .isPresent();
    }

    @Override
    public Optional<FleetStore> fleetStore() {
        return weir.backend().capability(FleetStore.class);
    }

    @Override
    public int numberOfInstances() {
        return weir.instances();
    }

    @Override
    public Optional<String> grafana() {
        return console.grafana();
    }

    @Override
    public Caller callerByStoredKey(String policy, String storedKey) {
        return weir.callers().callerByStoredKey(policy, storedKey);
    }

    @Override
    public String storedKey(Caller caller) {
        return weir.callers().storedKey(caller);
    }

    @Override
    public Caller caller(String policy, int alternative, List<String> values) {
        return weir.callers().caller(policy, alternative, values);
    }

    @Override
    public Caller caller(String policy, Identity key) {
        return weir.callers().caller(policy, key);
    }

    @Override
    public Caller callerByMaskedKey(String policy, String maskedKey) {
        return weir.callers().callerByMaskedKey(policy, maskedKey);
    }

    @Override
    public List<Quota> peek(Caller caller, String tier) {
        return weir.callers().peek(caller, tier);
    }

    @Override
    public void reset(Caller caller) {
        weir.callers().reset(caller);
    }

    @Override
    public Duration block(Caller caller, Duration duration) {
        return weir.callers().block(caller, duration);
    }

    @Override
    public void unblock(Caller caller) {
        weir.callers().unblock(caller);
    }

    @Override
    public Map<String, Integer> runningCalls() {
        Map<String, Integer> running = new TreeMap<>();
        for (String policy : weir.policies().withSlots()) {
            running.put(policy, weir.engine().ends().slots().held(policy));
        }
        return running;
    }

    @Override
    public KnownBlocks blocks() {
        return weir.callers().blocks();
    }
}
