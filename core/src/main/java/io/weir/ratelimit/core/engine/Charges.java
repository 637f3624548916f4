// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.key.IdentityEncoder;
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
        List<Binding.PolicyCost> policies = binding.policies();
        if (policies.size() == 1) {
            return onlyCharge(policies.get(0), call, acquisition);
        }
        Charge[] charges = new Charge[policies.size()];
        for (int i = 0; i < charges.length; i++) {
            charges[i] = charge(policies.get(i), call, acquisition);
        }
        return List.of(charges);
    }

    private List<Charge> onlyCharge(
            Binding.PolicyCost policyCost, CallContext call, @Nullable Acquisition acquisition) {
        RecentCharges.Entry known = recent(policyCost, call, acquisition);
        return known == null ? List.of(charge(policyCost, call, acquisition)) : known.charges();
    }

    /** Returns the only charge of a call that can have been called before, null if the charge depends on more than its key. */
    RecentCharges.@Nullable Entry recent(Binding binding, CallContext call) {
        List<Binding.PolicyCost> policies = binding.policies();
        return policies.size() == 1 ? recent(policies.get(0), call, null) : null;
    }

    private RecentCharges.@Nullable Entry recent(
            Binding.PolicyCost policyCost, CallContext call, @Nullable Acquisition acquisition) {
        Policy policy = policyCost.policy();
        String source = policy.hasSameChargeForAll() && !overrides.existFor(policy)
                ? policy.key().source(call)
                : null;
        if (source == null) {
            return null;
        }
        RecentCharges.Entry known = recent.get(policy, source, policyCost.cost());
        if (known == null) {
            String storedKey = encoder.encode(policy.key().ofSource(source));
            known = recent.put(
                    policy, source, charge(policy, policy.limits(), storedKey, policyCost.cost(), acquisition));
        }
        return known;
    }

    private Charge charge(Binding.PolicyCost policyCost, CallContext call, @Nullable Acquisition acquisition) {
        Policy policy = policyCost.policy();
        Identity key = policy.key().resolve(call);
        String storedKey = encoder.encode(key);
        return charge(policy, limits(policy, key, storedKey, call), storedKey, policyCost.cost(), acquisition);
    }

    /** Returns the charges of a key that application code names. */
    List<Charge> of(Binding binding, Identity key, String storedKey, Acquisition acquisition) {
        return binding.policies().stream()
                .map(policyCost -> charge(
                        policyCost.policy(),
                        knownLimits(policyCost.policy(), key, storedKey),
                        storedKey,
                        policyCost.cost(),
                        acquisition))
                .toList();
    }

    private static Charge charge(
            Policy policy, PolicyLimits limits, String storedKey, long cost, @Nullable Acquisition acquisition) {
        return policy.isShadowFor(storedKey)
                ? new Charge(limits, storedKey, cost).asShadow()
                : new Charge(limits, storedKey, cost, acquisition == null ? 0 : acquisition.maxWaitMicros(policy));
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
