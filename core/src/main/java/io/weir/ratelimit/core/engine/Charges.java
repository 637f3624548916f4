// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.key.IdentityEncoder;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The charges of calls: the key of the caller and the limits that apply to it, for each policy of a binding. */
final class Charges {
    private final IdentityEncoder encoder;
    private final Overrides overrides;
    private final RecentCharges recent;

    Charges(IdentityEncoder encoder, Overrides overrides, RecentCharges recent) {
        this.encoder = encoder;
        this.overrides = overrides;
        this.recent = recent;
    }

    /** Returns the charges of a call; the acquisition is null if the call cannot wait. */
    List<Charge> of(Binding binding, CallContext call, @Nullable Acquisition acquisition) {
        RecentCharges.Entry known = recent(binding, call);
        return known == null ? resolved(binding.policies(), null, call, acquisition) : known.charges();
    }

    /** Returns the charges of a call that can have been called before, null if a charge depends on more than one text. */
    RecentCharges.@Nullable Entry recent(Binding binding, CallContext call) {
        List<Binding.PolicyCost> policies = binding.policies();
        String source = source(policies, call);
        if (source == null) {
            return null;
        }
        RecentCharges.Entry known = recent.get(policies, source);
        return known == null ? recent.put(policies, source, resolved(policies, source, call, null)) : known;
    }

    /** Returns the text that alone determines the keys of all policies and their limits, null if there is none. */
    private @Nullable String source(List<Binding.PolicyCost> policies, CallContext call) {
        KeyExpression key = null;
        for (int i = 0; i < policies.size(); i++) {
            Policy policy = policies.get(i).policy();
            boolean known = key == null
                    || policy.key().equals(key)
                    || key.isGlobal()
                    || policy.key().isGlobal();
            if (!known || !policy.hasSameChargeForAll() || overrides.existFor(policy)) {
                return null;
            }
            key = key == null || key.isGlobal() ? policy.key() : key;
        }
        return key == null ? null : key.source(call);
    }

    /**
     * Resolves the charges of a call. Policies with the same key share its resolved value. If a text alone determines the charges, they
     * have the limits of all callers.
     */
    private List<Charge> resolved(
            List<Binding.PolicyCost> policies,
            @Nullable String source,
            CallContext call,
            @Nullable Acquisition acquisition) {
        Identity[] keys = new Identity[policies.size()];
        Charge[] charges = new Charge[keys.length];
        for (int i = 0; i < keys.length; i++) {
            Policy policy = policies.get(i).policy();
            int same = 0;
            while (!policies.get(same).policy().key().equals(policy.key())) {
                same++;
            }
            if (same < i) {
                keys[i] = keys[same];
            } else {
                keys[i] = source == null
                        ? policy.key().resolve(call)
                        : policy.key().ofSource(source);
            }
            String storedKey = same < i ? charges[same].storedKey() : encoder.encode(keys[i]);
            PolicyLimits limits = source == null ? limits(policy, keys[i], storedKey, call) : policy.limits();
            charges[i] = charge(policies.get(i), limits, storedKey, acquisition);
        }
        return List.of(charges);
    }

    /** Returns the charges of a key that application code names. */
    List<Charge> of(Binding binding, Identity key, String storedKey, Acquisition acquisition) {
        return binding.policies().stream()
                .map(policyCost ->
                        charge(policyCost, knownLimits(policyCost.policy(), key, storedKey), storedKey, acquisition))
                .toList();
    }

    private static Charge charge(
            Binding.PolicyCost due, PolicyLimits limits, String storedKey, @Nullable Acquisition acquisition) {
        boolean shadow = due.policy().isShadowFor(storedKey);
        long maxWait = shadow || acquisition == null ? 0 : acquisition.maxWaitMicros(due.policy());
        return new Charge(limits, storedKey, due.cost(), maxWait, shadow);
    }

    /** Returns the limits of the key, else of the caller's tier, else of the policy. */
    PolicyLimits limits(Policy policy, Identity key, String storedKey, CallContext call) {
        Optional<PolicyLimits> override = overrides.of(policy, key, storedKey);
        return override.isPresent() ? override.get() : policy.tiers().of(call, policy.limits());
    }

    private PolicyLimits knownLimits(Policy policy, Identity key, String storedKey) {
        return overrides.of(policy, key, storedKey).orElse(policy.limits());
    }

    /** Waits for the limits of single keys before charges are reserved, because a source can be slow. */
    void awaitOverrides(Binding binding, CallContext call) {
        List<Binding.PolicyCost> policies = binding.policies();
        for (int i = 0; i < policies.size(); i++) {
            Policy policy = policies.get(i).policy();
            if (overrides.existFor(policy)) {
                Identity key = policy.key().resolve(call);
                overrides.await(policy, key, encoder.encode(key));
            }
        }
    }

    /** Waits as {@link #awaitOverrides}, without a thread. */
    Stream<CompletableFuture<Void>> awaitOverridesAsync(
            List<Binding.PolicyCost> policies, CallContext call, LongFunction<CompletableFuture<Void>> timer) {
        return policies.stream()
                .map(Binding.PolicyCost::policy)
                .filter(overrides::existFor)
                .map(policy -> {
                    Identity key = policy.key().resolve(call);
                    return overrides.awaitAsync(policy, key, encoder.encode(key), timer);
                });
    }

    /** Returns the limits of a key that application code names. Waits for them if they are not known. */
    PolicyLimits limits(Policy policy, Identity key, String storedKey) {
        overrides.await(policy, key, storedKey);
        return knownLimits(policy, key, storedKey);
    }
}
