// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.events.RejectionListener;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Engines with the real time, and their policies. */
final class RedisEngine {
    static final Duration DEADLINE = Duration.ofSeconds(20);
    static final IdentityEncoder PLAIN = new IdentityEncoder(Optional.empty());

    /** Failure modes for tests without a policy that counts in process. */
    static final FailureModes NO_LOCAL = new FailureModes(() -> 1, () -> {
        throw new AssertionError("no policy counts in process");
    });

    private RedisEngine() {}

    /** Creates a policy with the key {@code principal}, whose limits all have the algorithm of the first. */
    static Policy policy(
            PolicyLimits limits,
            Policy.Mode mode,
            List<Integer> notifyAt,
            Optional<PenaltyRule> penalty,
            int enforcePercent) {
        return Policy.builder(limits, KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .onFailure(FailureMode.CLOSED)
                .mode(mode)
                .notifyAt(notifyAt)
                .penalty(penalty)
                .enforcePercent(enforcePercent)
                .build();
    }

    static FallbackBackend withFallback(RateLimitBackend backend, FailureModes modes, Duration deadline) {
        BackendHealth health = new BackendHealth(backend, true, false, System::nanoTime, List.of());
        return new FallbackBackend(backend, modes, health, deadline);
    }

    static RateLimitEngine of(FallbackBackend backend) {
        return of(backend, PLAIN, Overrides.NONE, QuotaThresholds.NONE, RejectionListener.NONE);
    }

    static RateLimitEngine of(
            FallbackBackend backend,
            IdentityEncoder encoder,
            Overrides overrides,
            QuotaThresholds thresholds,
            RejectionListener rejections) {
        return RateLimitEngine.on(backend)
                .encoder(encoder)
                .overrides(overrides)
                .thresholds(thresholds)
                .rejections(rejections)
                .build();
    }
}
