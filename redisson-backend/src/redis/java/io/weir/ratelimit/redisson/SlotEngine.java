// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An instance with the policy {@code slow}, which has a concurrency limit.
 *
 * @param engine the engine, which renews slots
 * @param limiter the limiter of the application
 */
record SlotEngine(RateLimitEngine engine, RateLimiter limiter) {
    static final String POLICY = "slow";
    static final int INSTANCES = 3;

    static SlotEngine of(
            RateLimitBackend backend, int calls, Duration timeout, Duration maxWait, FailureMode onFailure) {
        Policy policy = Policy.builder(
                        new PolicyLimits(
                                POLICY,
                                List.of(Limit.concurrency(calls, timeout).withMaxWait(maxWait))),
                        KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .onFailure(onFailure)
                .build();
        // The numbers are drawn in turn, so that a sample has exactly its share.
        AtomicInteger drawn = new AtomicInteger();
        FailureModes modes =
                new FailureModes(INSTANCES, () -> new LocalBackend(100), bound -> drawn.getAndIncrement() % bound);
        RateLimitEngine engine = RedisEngine.of(RedisEngine.withFallback(backend, modes, RedisEngine.DEADLINE));
        return new SlotEngine(
                engine,
                new EngineRateLimiter(engine, () -> Map.of(POLICY, policy), ForkJoinPool::commonPool, Optional::empty));
    }
}
