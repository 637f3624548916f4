// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.slots.WaitBulkhead;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;

/** Policies and engines for tests. */
public final class Fixtures {
    public static final Duration DEADLINE = Duration.ofSeconds(10);

    /** Failure modes for tests without a policy that counts in process. */
    public static final FailureModes NO_LOCAL = new FailureModes(() -> 1, () -> {
        throw new AssertionError("no policy counts in process");
    });

    private Fixtures() {}

    public static Policy policy(String name, String key, long cost, FailureMode onFailure) {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofMinutes(1));
        return Policy.builder(new PolicyLimits(name, List.of(limit)), KeyExpression.parse(key, new KeyTerms(32, 64)))
                .cost(cost)
                .onFailure(onFailure)
                .build();
    }

    public static Policy policy(String name, String key) {
        return policy(name, key, 1, FailureMode.OPEN);
    }

    /** Creates a policy of ten permits an hour in shadow mode that is enforced for a share of the keys. */
    public static Policy staged(String name, String key, int enforcePercent) {
        return Policy.builder(
                        new PolicyLimits(name, List.of(Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofHours(1)))),
                        KeyExpression.parse(key, new KeyTerms(32, 64)))
                .mode(Policy.Mode.SHADOW)
                .enforcePercent(enforcePercent)
                .build();
    }

    /** Creates the binding of {@code Search.find} to policies, with one cost under each. */
    public static Binding binding(long cost, Policy... policies) {
        return binding("Search.find", cost, policies);
    }

    public static Binding binding(String endpoint, long cost, Policy... policies) {
        return new Binding(
                endpoint,
                List.of(policies).stream()
                        .map(policy -> new Binding.PolicyCost(policy, cost))
                        .toList());
    }

    public static BackendHealth health(RateLimitBackend backend) {
        return new BackendHealth(backend, true, false, System::nanoTime, List.of());
    }

    /** Creates a backend with a fallback, for policies that count nothing in process. */
    public static FallbackBackend withFallback(RateLimitBackend backend, BackendHealth health) {
        return new FallbackBackend(backend, NO_LOCAL, health, DEADLINE);
    }

    public static RateLimitEngine engine(RateLimitBackend backend, DecisionListener... listeners) {
        return engine(backend, health(backend), listeners);
    }

    public static RateLimitEngine engine(
            RateLimitBackend backend, BackendHealth health, DecisionListener... listeners) {
        return engine(withFallback(backend, health), Sleeper.REAL, listeners);
    }

    public static RateLimitEngine engine(RateLimitBackend backend, Sleeper sleeper, DecisionListener... listeners) {
        return engine(withFallback(backend, health(backend)), sleeper, listeners);
    }

    public static RateLimitEngine engine(FallbackBackend backend, Sleeper sleeper, DecisionListener... listeners) {
        return engine(backend, sleeper, WaitBulkhead.ofThreads(), WaitBulkhead.withoutThreads(), listeners);
    }

    public static RateLimitEngine engine(
            FallbackBackend backend,
            Sleeper sleeper,
            WaitBulkhead threads,
            WaitBulkhead withoutThreads,
            DecisionListener... listeners) {
        return RateLimitEngine.on(backend)
                .listeners(List.of(listeners))
                .clock(sleeper)
                .bounds(threads, withoutThreads)
                .build();
    }
}
