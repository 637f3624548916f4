// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.engine.Binding;
import io.weir.ratelimit.interceptor.engine.Fallback;
import io.weir.ratelimit.interceptor.engine.Outages;
import io.weir.ratelimit.interceptor.engine.Pause;
import io.weir.ratelimit.interceptor.engine.RateLimitEngine;
import io.weir.ratelimit.interceptor.heavy.HeavyKeys;
import io.weir.ratelimit.interceptor.key.IdentityEncoder;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.interceptor.key.KeyTerms;
import io.weir.ratelimit.interceptor.local.LocalBackend;
import io.weir.ratelimit.interceptor.policy.Overrides;
import io.weir.ratelimit.interceptor.policy.Policy;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Engines in process, methods with one policy that nobody exceeds, and who calls them. */
final class Callers {
    private static final long PLENTY = 1_000_000_000;

    private Callers() {}

    static RateLimitEngine engine(List<DecisionListener> listeners) {
        return engine(listeners, HeavyKeys.NONE);
    }

    static RateLimitEngine engine(List<DecisionListener> listeners, HeavyKeys heavy) {
        return new RateLimitEngine(
                new LocalBackend(100_000),
                new Fallback(1, () -> new LocalBackend(100_000)),
                new IdentityEncoder(Optional.empty()),
                listeners,
                new Outages("local", System::nanoTime, List.of()),
                Pause.REAL,
                Overrides.NONE,
                heavy);
    }

    static Binding binding(String key) {
        return binding(key, Algorithm.SLIDING_WINDOW);
    }

    static Binding binding(String key, Algorithm algorithm) {
        return binding(
                key,
                algorithm == Algorithm.LEAKY_BUCKET
                        ? Limit.of(algorithm, PLENTY, Duration.ofHours(1), PLENTY)
                        : Limit.of(algorithm, PLENTY, Duration.ofHours(1)));
    }

    static Binding binding(String key, Limit limit) {
        Policy policy = new Policy(
                new PolicyLimits(key, List.of(limit)),
                KeyExpression.parse(key, new KeyTerms(32, 64)),
                1,
                FailureMode.OPEN,
                Policy.MAX_WAITING);
        return new Binding("Benchmark." + key, List.of(new Binding.Costed(policy, 1)));
    }

    record Address(String address) implements CallContext {
        @Override
        public Optional<String> peerAddress() {
            return Optional.of(address);
        }

        @Override
        public Optional<String> principal() {
            return Optional.empty();
        }

        @Override
        public Optional<String> header(String name) {
            return Optional.empty();
        }

        @Override
        public Optional<Object> argument(String name) {
            return Optional.empty();
        }
    }
}
