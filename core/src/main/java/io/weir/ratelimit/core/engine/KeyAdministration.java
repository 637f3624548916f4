// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.fallback.Capabilities;
import io.weir.ratelimit.core.limit.BlockedState;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** The operations on a key of which only the stored key is known, but neither the caller nor the tier. */
public final class KeyAdministration {
    private final RateLimitEngine engine;
    private final Overrides overrides;

    public KeyAdministration(RateLimitEngine engine, Overrides overrides) {
        this.engine = engine;
        this.overrides = overrides;
    }

    /** Returns the stored key of a key. Waits for the limits of the key if the policy has a source. */
    public String storedKey(Policy policy, Identity key) {
        String storedKey = engine.encoder().encode(key);
        overrides.await(policy, key, storedKey);
        return storedKey;
    }

    /**
     * Returns the quotas of a key, one per limit, without spending. The cached limits of the key apply, otherwise the limits of a tier,
     * which is {@link PolicyLimits#NO_TIER} for the limits of the policy itself.
     *
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the backend is unavailable
     */
    public List<Quota> peek(Policy policy, String storedKey, String tier) {
        PolicyLimits limits = overrides
                .cached(policy, storedKey)
                .orElse(policy.tiers().limits().getOrDefault(tier, policy.limits()));
        Charge charge = new Charge(limits, storedKey, policy.cost(), policy.maxWaitMicros());
        return engine.call(backend -> backend.peek(List.of(charge)));
    }

    /**
     * Resets a key under all limits that can apply to it.
     *
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the backend is unavailable
     */
    public void reset(Policy policy, String storedKey) {
        reset(engine, policy, overrides.cached(policy, storedKey), storedKey);
    }

    /** Resets a key under the limits of a policy and of its tiers, and under its own limits. */
    static void reset(RateLimitEngine engine, Policy policy, Optional<PolicyLimits> own, String storedKey) {
        Set<PolicyLimits> limits = new LinkedHashSet<>();
        limits.add(policy.limits());
        limits.addAll(new TreeMap<>(policy.tiers().limits()).values());
        own.ifPresent(limits::add);
        engine.call(backend -> {
            backend.reset(List.copyOf(limits), storedKey);
            return true;
        });
    }

    /**
     * Blocks a key, and returns the time to the end of the block.
     *
     * @param duration the time from now to the end
     * @throws IllegalArgumentException if the duration is out of range
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the backend is unavailable
     */
    public Duration block(Policy policy, String storedKey, Duration duration) {
        BlockedState.checkRange(duration);
        return engine.callAndAwait(
                backend -> Capabilities.require(backend, BlocksKeys.class).block(policy.limits(), storedKey, duration));
    }

    /**
     * Ends the block of a key.
     *
     * @throws io.weir.ratelimit.RateLimitUnavailableException if the backend is unavailable
     */
    public void unblock(Policy policy, String storedKey) {
        engine.callAndAwait(
                backend -> Capabilities.require(backend, BlocksKeys.class).unblock(policy.limits(), storedKey));
    }
}
