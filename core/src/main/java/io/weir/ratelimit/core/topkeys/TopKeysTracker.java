// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A tracker of the keys with the most rejections and the most calls of the last minutes, and of the keys near a limit, by policy.
 *
 * <p>Each charge of a decision counts as one call, whatever its cost. It also counts as a rejection if a limit of its own policy
 * had no room, even in shadow mode. A degraded decision counts as calls only, because it does not depend on the keys. Calls that
 * bypass all limits do not count.
 *
 * <p>A key is near a limit while its calls find at least nine tenths of it spent.
 *
 * <p>Keys are kept as stored keys and shown as {@link KeyMasker} masks them.
 */
public final class TopKeysTracker {
    /** A tracker that counts nothing. */
    public static final TopKeysTracker NONE = new TopKeysTracker(false, new KeyMasker(Optional.empty()), () -> 0);

    private static final TopKeys EMPTY = new TopKeys(List.of(), List.of(), List.of(), Duration.ZERO);

    /** The key of a charge that keeps its counter, so that its next call need not search for it. */
    public static final class RecurringKey {
        private final Charge charge;

        /** The counter of the last call; null if the key had none. A call checks that it is still valid. */
        volatile RecentKeys.@Nullable Place place;

        public RecurringKey(Charge charge) {
            this.charge = charge;
        }
    }

    private final boolean enabled;
    private final KeyMasker keys;
    private final LongSupplier nanoTime;
    private final Map<String, RecentKeys> byPolicy = new ConcurrentHashMap<>();

    /** Creates a tracker without counts, with the monotonic clock of the instants of decisions. */
    public TopKeysTracker(KeyMasker keys, LongSupplier nanoTime) {
        this(true, keys, nanoTime);
    }

    private TopKeysTracker(boolean enabled, KeyMasker keys, LongSupplier nanoTime) {
        this.enabled = enabled;
        this.keys = keys;
        this.nanoTime = nanoTime;
    }

    /** Counts a decision at an instant of the monotonic clock. */
    public void decided(List<Charge> charges, Decision decision, long nanos) {
        if (!enabled) {
            return;
        }
        boolean canReject = decision instanceof Decision.Rejected || ChargedResults.hasShadowQuotas(decision);
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            boolean rejected = canReject && decision.results().get(i).rejected();
            of(charge.policy().policy(), nanos).count(charge.storedKey(), decision, i, rejected, nanos);
        }
    }

    /** Counts an allowed decision without shadow quotas about the charges of keys, at an instant of the monotonic clock. */
    public void allowed(List<RecurringKey> keys, Decision decision, long nanos) {
        for (int i = 0; enabled && i < keys.size(); i++) {
            RecurringKey key = keys.get(i);
            RecentKeys.Place known = key.place;
            String storedKey = key.charge.storedKey();
            if (known == null || !RecentKeys.count(known, storedKey, decision, i, nanos)) {
                key.place = of(key.charge.policy().policy(), nanos).count(storedKey, decision, i, false, nanos);
            }
        }
    }

    private RecentKeys of(String policy, long nanos) {
        RecentKeys recent = byPolicy.get(policy);
        return recent != null ? recent : byPolicy.computeIfAbsent(policy, first -> new RecentKeys(nanos));
    }

    /** Drops the policies that no longer exist. */
    public void retain(Set<String> policies) {
        byPolicy.keySet().retainAll(policies);
    }

    /** Returns the estimated top keys of a policy; empty if no call was decided under the policy. */
    public TopKeys top(String policy) {
        return top(policy, keys::of);
    }

    /** Returns the top keys of a policy with their stored keys, which must not be shown; empty if no call was decided under the policy. */
    public TopKeys stored(String policy) {
        return top(policy, storedKey -> storedKey);
    }

    private TopKeys top(String policy, UnaryOperator<String> shown) {
        RecentKeys recent = byPolicy.get(policy);
        return recent == null ? EMPTY : recent.top(shown, nanoTime.getAsLong());
    }

    /** Returns the longest time for which a key of a policy has been near a limit; zero if no key is near a limit. */
    public Duration longestNearLimit(String policy) {
        RecentKeys recent = byPolicy.get(policy);
        return recent == null ? Duration.ZERO : recent.longestNearLimit(nanoTime.getAsLong());
    }

    Map<String, List<SpaceSaving>> rejections() {
        Map<String, List<SpaceSaving>> rejections = new HashMap<>();
        byPolicy.forEach((policy, recent) -> rejections.put(policy, recent.rejections()));
        return rejections;
    }

    String masked(String storedKey) {
        return keys.of(storedKey);
    }

    /** Returns the stored key of a masked key; empty if the key has no counter and is near no limit. */
    public Optional<String> storedKey(String policy, String maskedKey) {
        RecentKeys recent = byPolicy.get(policy);
        return recent == null
                ? Optional.empty()
                : recent.storedKeys().stream()
                        .filter(storedKey -> keys.of(storedKey).equals(maskedKey))
                        .findFirst();
    }
}
