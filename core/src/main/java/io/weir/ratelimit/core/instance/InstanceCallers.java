// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import io.weir.ratelimit.CallerOperations;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.engine.KeyAdministration;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Supplier;

/** The operations on callers of this instance. */
public record InstanceCallers(
        Supplier<Map<String, Policy>> policies,
        KeyAdministration stored,
        TopKeysTracker top,
        KnownBlocks blocks,
        KeyMasker masker)
        implements CallerOperations {
    /** Returns a policy. Throws an {@link IllegalArgumentException} if no policy has the name. */
    public Policy policy(String name) {
        Policy policy = policies.get().get(name);
        if (policy == null) {
            throw new IllegalArgumentException("there is no policy \"" + name + "\"");
        }
        return policy;
    }

    /**
     * Returns the caller, whose key is masked, with a stored key of any origin. This instance need not have the policy.
     *
     * @throws IllegalArgumentException if the text cannot be a stored key
     */
    public Caller callerByStoredKey(String policy, String storedKey) {
        return new StoredCaller(policy, storedKey, masker.of(storedKey));
    }

    /**
     * Returns the stored key of a caller, which can contain a name or an address and must not be shown. Throws an
     * {@link IllegalArgumentException} if the caller has another origin.
     */
    public String storedKey(Caller caller) {
        return StoredCaller.storedKeyOf(caller);
    }

    @Override
    public Caller caller(String policy, int alternative, List<String> values) {
        return caller(policy, policy(policy).key().named(alternative, values));
    }

    @Override
    public Caller caller(String policy, Identity key) {
        return callerByStoredKey(policy, stored.storedKey(policy(policy), key));
    }

    @Override
    public Caller callerByMaskedKey(String policy, String maskedKey) {
        policy(policy);
        String key = maskedKey.strip();
        return masker.stored(key)
                .or(() -> top.storedKey(policy, key))
                .map(storedKey -> callerByStoredKey(policy, storedKey))
                .orElseThrow(
                        () -> new IllegalArgumentException("this key of " + policy + " cannot be found by its hash:"
                                + " without ratelimit.key-secret, enter a key that this instance lists; with it, a key that logs"
                                + " and spans show"));
    }

    @Override
    public List<Quota> peek(Caller caller, String tier) {
        Policy policy = policy(caller.policy());
        if (!tier.isEmpty() && !policy.tiers().limits().containsKey(tier)) {
            throw new IllegalArgumentException("the policy " + policy.name() + " has no tier \"" + tier + "\", but "
                    + new TreeSet<>(policy.tiers().limits().keySet()));
        }
        return stored.peek(policy, storedKey(caller), tier.isEmpty() ? PolicyLimits.NO_TIER : tier);
    }

    @Override
    public void reset(Caller caller) {
        stored.reset(policy(caller.policy()), storedKey(caller));
        blocks.ended(caller.policy(), storedKey(caller));
    }

    @Override
    public Duration block(Caller caller, Duration duration) {
        Duration rest = stored.block(policy(caller.policy()), storedKey(caller), duration);
        blocks.blocked(caller.policy(), storedKey(caller), rest);
        return rest;
    }

    /** Notes that the upstream of a REST client has paused a key. */
    public void paused(String policy, String storedKey, Duration rest) {
        blocks.paused(policy, storedKey, rest);
    }

    @Override
    public void unblock(Caller caller) {
        stored.unblock(policy(caller.policy()), storedKey(caller));
        blocks.ended(caller.policy(), storedKey(caller));
    }
}
