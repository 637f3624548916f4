// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.CallerQuotas;
import io.weir.ratelimit.core.engine.EngineEnvironment;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.events.Penalties;
import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.BackendStateListener;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.metrics.Telemetry;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Creates the engine of a deployment and the objects around it; failure modes use the number of instances. */
public record EngineFactory(
        Settings settings,
        EngineEnvironment environment,
        RateLimitBackend backend,
        IntSupplier instances,
        Telemetry telemetry,
        Observers observers,
        KeyMasker masker,
        Supplier<Executor> executor) {
    /** The number of addresses whose reads of the quota resource are counted. */
    private static final int MAX_QUOTA_READERS = 10_000;

    /** The observers of events in the application. */
    public record Observers(
            List<Consumer<BackendStateChanged>> backend,
            List<Consumer<PenaltyImposed>> penalties,
            List<Consumer<QuotaThresholdReached>> thresholds) {}

    public BackendHealth health() {
        List<BackendStateListener> listeners = new ArrayList<>(telemetry.backendStateListeners());
        observers.backend().forEach(observer -> listeners.add(BackendStateListener.ofChanges(observer)));
        return new BackendHealth(
                backend, settings.enabled(), settings.failsWhenDegraded(), environment.clock()::nanos, listeners);
    }

    /** Creates the counter of keys, which counts nothing if limits are disabled. */
    public TopKeysTracker topKeys() {
        return settings.enabled() ? new TopKeysTracker(masker, environment.clock()::nanos) : TopKeysTracker.NONE;
    }

    /** Creates the engine. The additional listeners, those of the application, follow those of the telemetry. */
    public RateLimitEngine engine(
            BackendHealth health,
            Overrides overrides,
            TopKeysTracker topKeys,
            KnownBlocks blocks,
            List<DecisionListener> additional) {
        FailureModes failureModes =
                new FailureModes(instances, () -> environment.local(settings.localMaxKeys()), environment.random());
        List<DecisionListener> listeners = new ArrayList<>(telemetry.listeners());
        listeners.addAll(additional);
        QuotaThresholds thresholds = thresholds();
        environment.resets(health::reset, thresholds::reset);
        return RateLimitEngine.on(new FallbackBackend(backend, failureModes, health, settings.deadline()))
                .encoder(new IdentityEncoder(settings.keySecret()))
                .listeners(listeners)
                .clock(environment.clock())
                .overrides(overrides)
                .topKeys(topKeys)
                .thresholds(thresholds)
                .penalties(penalties(blocks))
                .build();
    }

    /** Creates the quotas of callers, without the policies that only REST clients have. */
    public CallerQuotas quotas(
            RateLimitEngine engine, Supplier<Map<String, Policy>> policies, Set<String> outgoing, KeyTerms terms) {
        return new CallerQuotas(
                engine,
                policies,
                outgoing,
                KeyExpression.parse("ip", terms)::resolve,
                new IdentityEncoder(settings.keySecret()),
                environment.local(MAX_QUOTA_READERS));
    }

    private Penalties penalties(KnownBlocks blocks) {
        return new Penalties(backend, masker, executor, telemetry.penalties(), observers.penalties(), blocks);
    }

    private QuotaThresholds thresholds() {
        return new QuotaThresholds(
                backend,
                new IdentityEncoder(settings.keySecret()),
                masker,
                executor,
                () -> environment.clock().epochMillis() * 1_000,
                observers.thresholds());
    }
}
