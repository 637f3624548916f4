// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Engines with the local backend, bindings with one policy whose limit is never reached, and calls. */
public final class LocalEngines {
    private static final long UNREACHABLE_PERMITS = 1_000_000_000;

    private LocalEngines() {}

    /**
     * Returns an engine.
     *
     * @param listeners learn of its decisions
     * @return an engine without top keys
     */
    public static RateLimitEngine engine(List<DecisionListener> listeners) {
        return engine(listeners, TopKeysTracker.NONE);
    }

    static RateLimitEngine engine(List<DecisionListener> listeners, TopKeysTracker topKeys) {
        return engine(listeners, topKeys, new LocalBackend(100_000));
    }

    static RateLimitEngine engine(List<DecisionListener> listeners, TopKeysTracker topKeys, RateLimitBackend backend) {
        return RateLimitEngine.on(new FallbackBackend(
                        backend,
                        new FailureModes(() -> 1, () -> new LocalBackend(100_000)),
                        new BackendHealth(backend, true, false, System::nanoTime, List.of()),
                        Duration.ofMillis(100)))
                .listeners(listeners)
                .topKeys(topKeys)
                .build();
    }

    static Binding binding(String key) {
        return binding(key, Algorithm.SLIDING_WINDOW);
    }

    static Binding binding(String key, Algorithm algorithm) {
        return binding(
                key,
                algorithm == Algorithm.LEAKY_BUCKET
                        ? Limit.of(algorithm, UNREACHABLE_PERMITS, Duration.ofHours(1), UNREACHABLE_PERMITS)
                        : Limit.of(algorithm, UNREACHABLE_PERMITS, Duration.ofHours(1)));
    }

    static Binding binding(String key, Limit limit) {
        Policy policy = Policy.builder(
                        new PolicyLimits(key, List.of(limit)), KeyExpression.parse(key, new KeyTerms(32, 64)))
                .build();
        return new Binding("Benchmark." + key, List.of(new Binding.PolicyCost(policy, 1)));
    }

    /** A call from an address. */
    record AddressCall(String address) implements CallContext {
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
