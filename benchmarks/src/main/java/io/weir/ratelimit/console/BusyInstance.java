// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.console;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.console.report.LiveRates;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.operations.Operations;
import io.weir.ratelimit.operations.OperationsPlugin;
import io.weir.ratelimit.runtime.HostedWeir;
import io.weir.ratelimit.runtime.Platform;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** An instance with policies and counted keys. Each key is rejected at every tenth call. Its time passes with its decisions. */
final class BusyInstance {
    private final TopKeysTracker topKeys;
    private final LiveRates rates = new LiveRates(this::nanos);
    private final Operations operations;
    private final List<DecisionEvent> events = new ArrayList<>();
    private long nanos = System.nanoTime();

    /** The platform of the instance, which shows its time. */
    private record InstancePlatform(Map<String, String> values, OperationsPlugin plugin, LongSupplier nanoTime)
            implements Platform, EngineEnvironment, Sleeper {
        @Override
        public ConfigProperties.Sources properties() {
            return ConfigProperties.Sources.of(ConfigProperties.of(values));
        }

        @Override
        public <T> List<T> all(Class<T> type) {
            return type.isInstance(plugin) ? List.of(type.cast(plugin)) : List.of();
        }

        @Override
        public EngineEnvironment environment() {
            return this;
        }

        @Override
        public Sleeper clock() {
            return this;
        }

        @Override
        public long nanos() {
            return nanoTime.getAsLong();
        }

        @Override
        public CompletableFuture<Void> timer(long micros) {
            throw new UnsupportedOperationException();
        }
    }

    BusyInstance(int policies, int keys) {
        OperationsPlugin plugin = new OperationsPlugin();
        HostedWeir weir = HostedWeir.on(new InstancePlatform(values(policies), plugin, this::nanos));
        topKeys = weir.callers().top();
        operations = plugin.operations();
        List<Policy> all = List.copyOf(weir.policies().policies().values());
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

    private static Map<String, String> values(int policies) {
        Map<String, String> properties = new HashMap<>();
        properties.put("ratelimit.console.enabled", "true");
        properties.put("ratelimit.console.open", "true");
        for (int i = 0; i < policies; i++) {
            String prefix = "ratelimit.policies.policy-" + i + ".";
            properties.put(prefix + "limit", "100/1m, 1000/1h");
            properties.put(prefix + "key", "header:x-client | ip");
            properties.put(prefix + "paths", "/api/v1/part" + i + "/*");
        }
        return properties;
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
