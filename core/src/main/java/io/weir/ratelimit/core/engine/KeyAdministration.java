// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.limit.BlockedState;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;

/**
 * The operations of an engine on single keys, apart from decisions. Of some keys, only the stored key is known. If the backend is
 * unavailable, an operation throws a {@link io.weir.ratelimit.RateLimitUnavailableException}, or its stage fails with it.
 */
public final class KeyAdministration {
    private final FallbackBackend backend;
    private final IdentityEncoder encoder;
    private final Overrides overrides;
    private final Charges charges;

    KeyAdministration(FallbackBackend backend, IdentityEncoder encoder, Overrides overrides, Charges charges) {
        this.backend = backend;
        this.encoder = encoder;
        this.overrides = overrides;
        this.charges = charges;
    }

    /** Returns the stored key of a key. Waits for the limits of the key if the policy has a source. */
    public String storedKey(Policy policy, Identity key) {
        String storedKey = encoder.encode(key);
        overrides.await(policy, key, storedKey);
        return storedKey;
    }

    /** Returns the quotas of a caller without spending. The properties of the call determine key and tier. */
    public List<Quota> peek(Policy policy, CallContext call) {
        return peek(List.of(charge(policy, policy.key().resolve(call), call)));
    }

    /** Returns the quotas of a caller under several policies, by one operation of the backend. */
    List<Quota> peek(Map<Policy, Identity> keys, CallContext call) {
        // All look-ups start before the first wait, so that one deadline bounds the call.
        keys.forEach((policy, key) -> overrides.of(policy, key, encoder.encode(key)));
        List<Charge> peeked = new ArrayList<>();
        keys.forEach((policy, key) -> peeked.add(charge(policy, key, call)));
        return peek(peeked);
    }

    /** Returns the quotas of a key that application code names. */
    List<Quota> peek(Policy policy, Identity key) {
        String storedKey = encoder.encode(key);
        return peek(List.of(charge(policy, charges.limits(policy, key, storedKey), storedKey)));
    }

    /**
     * Returns the quotas of a key, one per limit, without spending. The cached limits of the key apply, otherwise the limits of a tier,
     * which is {@link PolicyLimits#NO_TIER} for the limits of the policy itself.
     */
    public List<Quota> peek(Policy policy, String storedKey, String tier) {
        PolicyLimits limits = overrides
                .cached(policy, storedKey)
                .orElse(policy.tiers().limits().getOrDefault(tier, policy.limits()));
        return peek(List.of(charge(policy, limits, storedKey)));
    }

    private List<Quota> peek(List<Charge> peeked) {
        return backend.call(known -> known.peek(peeked));
    }

    private Charge charge(Policy policy, Identity key, CallContext call) {
        String storedKey = storedKey(policy, key);
        return charge(policy, charges.limits(policy, key, storedKey, call), storedKey);
    }

    private static Charge charge(Policy policy, PolicyLimits limits, String storedKey) {
        return new Charge(limits, storedKey, policy.cost(), policy.maxWaitMicros());
    }

    /** Refunds a cost of a key. */
    void refund(Policy policy, Identity key, long cost) {
        String storedKey = encoder.encode(key);
        Charge charge = new Charge(charges.limits(policy, key, storedKey), storedKey, cost);
        backend.callAndAwait(known -> known.refund(charge));
    }

    /** Resets a key under all limits that can apply to it. */
    void reset(Policy policy, Identity key) {
        String storedKey = encoder.encode(key);
        reset(policy, Optional.of(charges.limits(policy, key, storedKey)), storedKey);
    }

    /** Resets a key under all limits that can apply to it. */
    public void reset(Policy policy, String storedKey) {
        reset(policy, overrides.cached(policy, storedKey), storedKey);
    }

    /** Resets a key under the limits of a policy and of its tiers, and under its own limits. */
    private void reset(Policy policy, Optional<PolicyLimits> own, String storedKey) {
        Set<PolicyLimits> limits = new LinkedHashSet<>();
        limits.add(policy.limits());
        limits.addAll(new TreeMap<>(policy.tiers().limits()).values());
        own.ifPresent(limits::add);
        backend.call(known -> {
            known.reset(List.copyOf(limits), storedKey);
            return true;
        });
    }

    /**
     * Blocks a key for a duration from now, and returns the time to the end of the block. Throws an {@link IllegalArgumentException} if the
     * duration is out of range.
     */
    public Duration block(Policy policy, String storedKey, Duration duration) {
        BlockedState.checkRange(duration);
        return backend.callAndAwait(known -> blocks(known).block(policy.limits(), storedKey, duration));
    }

    /** Blocks as {@link #block}, without blocking the thread. */
    CompletionStage<Duration> blockAsync(Policy policy, String storedKey, Duration duration) {
        BlockedState.checkRange(duration);
        return backend.callAsync(known -> blocks(known).block(policy.limits(), storedKey, duration));
    }

    /** Ends the block of a key. */
    public void unblock(Policy policy, String storedKey) {
        backend.callAndAwait(known -> blocks(known).unblock(policy.limits(), storedKey));
    }

    private static BlocksKeys blocks(RateLimitBackend backend) {
        return FallbackBackend.require(backend, BlocksKeys.class);
    }
}
