// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.config.Settings;
import io.weir.ratelimit.core.engine.BackendHealth;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.FailureModes;
import io.weir.ratelimit.core.engine.FallbackBackend;
import io.weir.ratelimit.core.engine.QuotaThresholds;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An engine without a container. */
final class TestEngine {
    private final TestEnvironment environment;
    private final RateLimitEngine engine;
    private final RateLimiter limiter;
    private final RateLimits limits;

    /**
     * Starts an engine.
     *
     * @throws IllegalArgumentException if the configuration is invalid, with all of its problems
     */
    TestEngine(ConfigProperties config, Instant now) {
        Problems problems = new Problems();
        Settings settings = Settings.read(config, problems);
        ClientAddress clients = new ClientAddress(settings.trustedProxies(), settings.forwardedHeader());
        KeyTerms terms = new KeyTerms(settings.ipv4Prefix(), settings.ipv6Prefix(), clients, Map.of(), false);
        Map<String, Policy> policies = PolicyLoader.load(config, List.of(), new Resolvers(terms, Map.of()), problems)
                .policies();
        if (!problems.found().isEmpty()) {
            throw new IllegalArgumentException(problems.message());
        }
        environment = new TestEnvironment(now, settings.localMaxKeys(), settings.deadline());
        KeyMasker masker = new KeyMasker(settings.keySecret());
        IdentityEncoder encoder = new IdentityEncoder(settings.keySecret());
        BackendHealth health = new BackendHealth(
                environment.backend(),
                settings.enabled(),
                settings.failsWhenDegraded(),
                environment.clock()::nanos,
                List.of());
        engine = new RateLimitEngine(
                new FallbackBackend(
                        environment.backend(),
                        new FailureModes(settings.instances(), environment::fallback, bound -> 0),
                        health,
                        settings.deadline()),
                encoder,
                List.of(),
                environment.clock(),
                Overrides.NONE,
                new TopKeysTracker(masker, environment.clock()::nanos),
                QuotaThresholds.NONE);
        limiter = new EngineRateLimiter(engine, () -> policies, () -> Runnable::run, Optional::empty);
        limits = new EngineLimits(environment, encoder, policies);
    }

    TestEnvironment environment() {
        return environment;
    }

    RateLimiter limiter() {
        return limiter;
    }

    RateLimits limits() {
        return limits;
    }

    void stop() {
        engine.stop();
    }
}
