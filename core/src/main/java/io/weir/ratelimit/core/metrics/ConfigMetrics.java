// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.core.config.ReloadListener;
import io.weir.ratelimit.core.policy.ResolverListener;
import io.weir.ratelimit.core.policy.SourceListener;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The metrics of configuration reloads and of failures of the application's sources and resolvers. */
public final class ConfigMetrics implements ReloadListener, SourceListener, ResolverListener {
    private final Meters meters;
    private final Map<Result, Runnable> reloads = new EnumMap<>(Result.class);
    private final Map<String, Map<Failure, Runnable>> failures = new ConcurrentHashMap<>();
    private final Map<ResolverFailure, Runnable> resolverFailures = new ConcurrentHashMap<>();

    private record ResolverFailure(Kind kind, String resolver, Failure failure) {}

    /** Creates the series of reloads at once, so that an alert rule finds them before the first failure. */
    public ConfigMetrics(Meters meters, boolean reloads) {
        this.meters = meters;
        if (reloads) {
            for (Result result : Result.values()) {
                this.reloads.put(result, meters.counter(Meters.Metric.CONFIG_RELOADS, "result", tag(result)));
            }
        }
    }

    @Override
    public void reloaded(Result result) {
        Runnable counter = reloads.get(result);
        if (counter != null) {
            counter.run();
        }
    }

    @Override
    public void failed(String policy, Failure failure) {
        failures.computeIfAbsent(policy, any -> new ConcurrentHashMap<>())
                .computeIfAbsent(
                        failure,
                        kind -> meters.counter(Meters.Metric.POLICY_SOURCE_ERRORS, "policy", policy, "type", tag(kind)))
                .run();
    }

    @Override
    public void failed(Kind kind, String resolver, Failure failure) {
        resolverFailures
                .computeIfAbsent(
                        new ResolverFailure(kind, resolver, failure),
                        first -> meters.counter(
                                Meters.Metric.RESOLVER_ERRORS,
                                "kind",
                                tag(kind),
                                "resolver",
                                resolver,
                                "type",
                                tag(failure)))
                .run();
    }

    private static String tag(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
