// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.benchmarks.LocalEngines;
import io.weir.ratelimit.console.report.LiveRates;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.engine.KeyAdministration;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.instance.InstanceCallers;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.LoadedPolicies;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.snapshot.Readings;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.operations.ConsoleSettings;
import io.weir.ratelimit.operations.InstanceOperations;
import io.weir.ratelimit.operations.KnownPolicies;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** An instance with policies and counted keys. Each key is rejected at every tenth call. Its time passes with its decisions. */
final class BusyInstance {
    private final TopKeysTracker topKeys = new TopKeysTracker(new KeyMasker(Optional.empty()), this::nanos);
    private final LiveRates rates = new LiveRates(this::nanos);
    private final LoadedPolicies loaded;
    private final Operations operations;
    private final List<DecisionEvent> events = new ArrayList<>();
    private long nanos = System.nanoTime();

    BusyInstance(int policies, int keys) {
        loaded = load(policies);
        operations = created();
        List<Policy> all = List.copyOf(loaded.policies().values());
        // Keys have different numbers of calls, so the lists have an order.
        for (int key = 0; key < keys; key++) {
            for (Policy policy : all) {
                DecisionEvent event = event(policy, key);
                for (int call = 0; call <= key % 50; call++) {
                    topKeys.decided(event.charges(), event.decision(), nanos);
                }
                if (key == 0) {
                    events.add(event);
                }
            }
        }
    }

    long nanos() {
        return nanos;
    }

    private static LoadedPolicies load(int policies) {
        Map<String, String> properties = new HashMap<>();
        for (int i = 0; i < policies; i++) {
            String prefix = "ratelimit.policies.policy-" + i + ".";
            properties.put(prefix + "limit", "100/1m, 1000/1h");
            properties.put(prefix + "key", "header:x-client | ip");
            properties.put(prefix + "paths", "/api/v1/part" + i + "/*");
        }
        Problems problems = new Problems();
        LoadedPolicies loaded = PolicyLoader.load(
                ConfigProperties.of(properties), List.of(), new Resolvers(new KeyTerms(32, 64), Map.of()), problems);
        if (!problems.found().isEmpty() || loaded.policies().size() != policies) {
            throw new IllegalStateException("the policies are not as expected: " + problems.lines());
        }
        return loaded;
    }

    private InstanceOperations created() {
        RateLimitEngine engine = LocalEngines.engine(List.of());
        return new InstanceOperations(
                new ConsoleSettings(true, Optional.empty(), true, Optional.empty()),
                new KnownPolicies(loaded::policies, name -> loaded.origins().getOrDefault(name, List.of()), List.of()),
                new Readings(Clock.systemUTC())::last,
                new InstanceOperations.Backend(
                        new BackendHealth(new LocalBackend(1_000), true, false, System::nanoTime, List.of()),
                        Optional.empty(),
                        () -> 1),
                new InstanceCallers(
                        loaded::policies,
                        new KeyAdministration(engine, Overrides.NONE),
                        topKeys,
                        new KnownBlocks(this::nanos),
                        new KeyMasker(Optional.empty())),
                InstanceOperations.Changes.NONE,
                engine.slots()::held);
    }

    private static DecisionEvent event(Policy policy, int key) {
        boolean rejected = key % 10 == 0;
        List<Quota> quotas = policy.limits().limits().stream()
                .map(limit -> TestQuota.of(
                        policy.name(),
                        policy.name(),
                        limit.permits(),
                        limit.permits(),
                        limit.window(),
                        rejected ? 0 : 40,
                        rejected,
                        0,
                        0,
                        0))
                .toList();
        String storedKey = "k.client-" + key + "-of-" + policy.name();
        return new DecisionEvent(
                "Api.get",
                List.of(new Charge(policy.limits(), storedKey, 1)),
                rejected
                        ? new Decision.Rejected(Results.of(quotas))
                        : new Decision.Allowed(Results.of(quotas), Receipt.EMPTY),
                1);
    }

    Operations operations() {
        return operations;
    }

    LiveRates rates() {
        return rates;
    }

    /** Decides a call under each policy in each second of a time. */
    void decideFor(Duration time) {
        for (long second = 0; second < time.toSeconds(); second++) {
            for (DecisionEvent event : events) {
                topKeys.decided(event.charges(), event.decision(), nanos);
                rates.decided(event);
            }
            nanos += TimeUnit.SECONDS.toNanos(1);
        }
    }
}
