// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.heavy.HeavyKeys;
import io.weir.ratelimit.interceptor.key.IdentityEncoder;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.interceptor.policy.Overrides;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Policies and engines for tests. */
final class Fixtures {
    /** For tests without a policy that counts in process. */
    static final Fallback NO_LOCAL = new Fallback(1, () -> {
        throw new AssertionError("no policy counts in process");
    });

    private Fixtures() {}

    static Policy policy(String name, String key, long cost, FailureMode onFailure) {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofMinutes(1));
        return new Policy(
                new PolicyLimits(name, List.of(limit)),
                KeyExpression.parse(key, new KeyTerms(32, 64)),
                cost,
                onFailure,
                Policy.MAX_WAITING);
    }

    static Policy policy(String name, String key) {
        return policy(name, key, 1, FailureMode.OPEN);
    }

    /** A method that is called like its policies, with one cost under each. */
    static Binding binding(long cost, Policy... policies) {
        return new Binding(
                "Search.find",
                List.of(policies).stream()
                        .map(policy -> new Binding.Costed(policy, cost))
                        .toList());
    }

    static RateLimitEngine engine(RateLimitBackend backend, DecisionListener... listeners) {
        return engine(backend, new Outages(backend.name(), () -> 0, List.of()), listeners);
    }

    static RateLimitEngine engine(RateLimitBackend backend, Outages outages, DecisionListener... listeners) {
        return new RateLimitEngine(
                backend,
                NO_LOCAL,
                new IdentityEncoder(Optional.empty()),
                List.of(listeners),
                outages,
                Pause.REAL,
                Overrides.NONE,
                HeavyKeys.NONE);
    }
}
