// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.policy;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache of the limits that sources return for single keys in place of the limits of the policy. The cache keeps the keys that
 * are used most. A slow or failing source delays a call at most by the deadline, once for each key.
 */
public final class Overrides {
    public static final Overrides NONE = new Overrides(
            OverrideSources.NONE,
            new LookupTimes(Duration.ZERO, Duration.ZERO, () -> 0),
            () -> Runnable::run,
            new KeyMasker(Optional.empty()),
            (policy, failure) -> {});

    /** The number of keys in the cache. */
    static final int MAX_KEYS = 10_000;

    /** The number of look-ups at once, which a usual connection pool can serve. */
    static final int MAX_LOOKUPS = 16;

    private final OverrideSources sources;
    private final Set<String> ofSources;
    private final LookupContext lookups;

    /** The callers do the maintenance, because the common pool outlives the application. */
    private final Cache<Subject, KeyOverride> cache =
            Caffeine.newBuilder().maximumSize(MAX_KEYS).executor(Runnable::run).build();

    private volatile SetLimits runtime;

    public record Subject(String policy, String storedKey) {
        /** Returns the key that a charge spends of. */
        public static Subject of(Charge charge) {
            return new Subject(charge.policy().policy(), charge.storedKey());
        }
    }

    /** The limits that operators set for single keys, and the policies that have such a key or a source of limits. */
    private record SetLimits(Map<Subject, RuntimeOverride> byKey, Set<String> policies) {
        /** Returns the limits of a key, null if there are none. A policy without such keys has no look-up by key. */
        @Nullable
        RuntimeOverride of(Policy policy, String storedKey) {
            return byKey.isEmpty() ? null : byKey.get(new Subject(policy.name(), storedKey));
        }

        /** Returns the state with other values. A key with unchanged values keeps its limits, because calls wait under them. */
        SetLimits next(Map<Subject, Map<String, String>> values, Set<String> ofSources) {
            Map<Subject, RuntimeOverride> next = new HashMap<>();
            Set<String> names = new HashSet<>(ofSources);
            values.forEach((subject, each) -> {
                RuntimeOverride known = byKey.get(subject);
                next.put(subject, known != null && known.values().equals(each) ? known : new RuntimeOverride(each));
                names.add(subject.policy());
            });
            return new SetLimits(Map.copyOf(next), Set.copyOf(names));
        }
    }

    /** Creates an empty cache. The executor of look-ups is read on the thread of the call. */
    public Overrides(
            OverrideSources sources,
            LookupTimes times,
            Supplier<Executor> executor,
            KeyMasker keys,
            SourceListener listener) {
        this.sources = sources;
        this.ofSources = Set.copyOf(sources.policies());
        this.runtime = new SetLimits(Map.of(), ofSources);
        this.lookups = new LookupContext(
                times,
                MAX_LOOKUPS,
                executor,
                listener,
                (policy, storedKey, reason, thrown) ->
                        MESSAGES.log(thrown, "WEIR-316", policy, keys.of(storedKey), reason));
    }

    /**
     * Tests whether keys of a policy can have limits of their own; false if the policy has no source and no key with limits that an
     * operator set.
     */
    public boolean existFor(Policy policy) {
        return runtime.policies().contains(policy.name());
    }

    /** Replaces all limits that operators set for single keys, by attribute. They precede the answers of sources. */
    public void replace(Map<Subject, Map<String, String>> values) {
        runtime = runtime.next(values, ofSources);
    }

    /**
     * Returns the limits of a key; empty if there was no answer yet or the key has no limits of its own. It does not wait, and starts a
     * look-up if the last answer is too old.
     */
    public Optional<PolicyLimits> of(Policy policy, Identity key, String storedKey) {
        SetLimits current = runtime;
        if (!current.policies().contains(policy.name())) {
            return Optional.empty();
        }
        RuntimeOverride set = current.of(policy, storedKey);
        if (set != null) {
            return set.limits(policy);
        }
        return ofSources.contains(policy.name())
                ? override(policy, key, storedKey).limits(policy)
                : Optional.empty();
    }

    /**
     * Returns the cached limits of a stored key; empty if none is cached or the key has no limits of its own. It starts no look-up, because
     * a source needs the key itself.
     */
    public Optional<PolicyLimits> cached(Policy policy, String storedKey) {
        RuntimeOverride set = runtime.of(policy, storedKey);
        if (set != null) {
            return set.limits(policy);
        }
        KeyOverride override = cache.getIfPresent(new Subject(policy.name(), storedKey));
        return override == null ? Optional.empty() : override.limits(policy);
    }

    /** Waits for the first answer for a key, until the deadline after the start of the look-up. */
    public void await(Policy policy, Identity key, String storedKey) {
        if (hasLookup(policy, storedKey)) {
            override(policy, key, storedKey).answer().await(policy.name());
        }
    }

    /**
     * Waits as {@link #await}, without a thread. The future completes by the deadline, on any thread.
     *
     * @param timer returns a future that completes after a number of microseconds and can be canceled
     */
    public CompletableFuture<Void> awaitAsync(
            Policy policy, Identity key, String storedKey, LongFunction<CompletableFuture<Void>> timer) {
        return hasLookup(policy, storedKey)
                ? override(policy, key, storedKey).answer().awaitAsync(policy.name(), timer)
                : CompletableFuture.completedFuture(null);
    }

    /** Tests whether the limits of a key come from a source. */
    private boolean hasLookup(Policy policy, String storedKey) {
        return ofSources.contains(policy.name()) && runtime.of(policy, storedKey) == null;
    }

    long size() {
        cache.cleanUp();
        return cache.estimatedSize();
    }

    private KeyOverride override(Policy policy, Identity key, String storedKey) {
        KeyOverride override = cache.get(
                new Subject(policy.name(), storedKey),
                first -> new KeyOverride(sources, new CachedAnswer<>(lookups, first.storedKey(), OverrideAnswer.NONE)));
        override.refreshIfStale(policy, key);
        return override;
    }
}
