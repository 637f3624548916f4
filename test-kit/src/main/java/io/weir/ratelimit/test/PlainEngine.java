// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.Penalties;
import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.BoundedKeyResolver;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.OverrideSources;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.ResolverListener;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.policy.TierLookups;
import io.weir.ratelimit.core.policy.TierSelector;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/** An engine without a container. */
final class PlainEngine implements StartedEngine {
    private final ClassLoader loader;
    private final Runnable end;
    private final TestEnvironment environment;
    private final RateLimitEngine engine;
    private final RateLimiter limiter;
    private final RateLimits limits;

    /**
     * Starts an engine.
     *
     * @throws IllegalArgumentException if the configuration is invalid, with all of its problems
     */
    PlainEngine(ConfigProperties config, Setup setup, ClassLoader loader, Runnable end) {
        this.loader = loader;
        this.end = end;
        this.environment = new TestEnvironment(setup.now(), setup.redis().map(RedisAddress::of));
        Problems problems = new Problems();
        Settings settings = Settings.read(config, problems);
        KeyMasker masker = new KeyMasker(settings.keySecret());
        LongSupplier nanoTime = environment.clock()::nanos;
        LookupTimes times = new LookupTimes(settings.overrideLifetime(), settings.deadline(), nanoTime);
        OverrideSources sources = OverrideSources.of(setup.sources(), problems);
        Map<String, Policy> policies = PolicyLoader.load(config, List.of(), resolvers(settings, setup, times), problems)
                .policies();
        if (!problems.found().isEmpty()) {
            throw new IllegalArgumentException(problems.message());
        }
        RateLimitBackend backend = environment.backend(environment.local(settings.localMaxKeys()), settings.deadline());
        BackendHealth health =
                new BackendHealth(backend, settings.enabled(), settings.failsWhenDegraded(), nanoTime, List.of());
        environment.health(health);
        engine = new RateLimitEngine(
                new FallbackBackend(
                        backend,
                        new FailureModes(
                                settings.instances(),
                                () -> environment.local(settings.localMaxKeys()),
                                environment.random()),
                        health,
                        settings.deadline()),
                new IdentityEncoder(settings.keySecret()),
                List.of(),
                environment.clock(),
                new Overrides(sources, times, PlainEngine::onCaller, masker, (policy, failure) -> {}),
                new TopKeysTracker(masker, nanoTime),
                QuotaThresholds.NONE,
                new Penalties(backend, masker, PlainEngine::onCaller, List.of(), List.of()));
        limiter = new EngineRateLimiter(engine, () -> policies, PlainEngine::onCaller, Optional::empty);
        limits = new EngineLimits(environment, () -> limiter);
    }

    /** Returns the executor of an engine without threads. */
    private static Executor onCaller() {
        return Runnable::run;
    }

    private static Resolvers resolvers(Settings settings, Setup setup, LookupTimes times) {
        ResolverListener listener = (kind, name, failure) -> {};
        Map<String, KeyResolver> keys = new HashMap<>();
        setup.keys().forEach((name, key) -> keys.put(name, new BoundedKeyResolver(name, key, times, listener)));
        Map<String, TierSelector> tiers = new HashMap<>();
        setup.tiers()
                .forEach((name, tier) ->
                        tiers.put(name, new TierLookups(name, tier, times, PlainEngine::onCaller, listener)));
        ClientAddress clients = new ClientAddress(settings.trustedProxies(), settings.forwardedHeader());
        return new Resolvers(new KeyTerms(settings.ipv4Prefix(), settings.ipv6Prefix(), clients, keys, true), tiers);
    }

    @Override
    public TestEnvironment environment() {
        return environment;
    }

    @Override
    public RateLimiter limiter() {
        return limiter;
    }

    @Override
    public RateLimits limits() {
        return limits;
    }

    @Override
    public void inject(Object test) {}

    @Override
    public ClassLoader loader() {
        return loader;
    }

    @Override
    public void stop() {
        engine.stop();
        environment.stop();
        end.run();
    }
}
