// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import io.weir.ratelimit.core.policy.BoundedKeyResolver;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.ResolverListener;
import io.weir.ratelimit.core.policy.SourceListener;
import io.weir.ratelimit.core.policy.TierLookups;
import io.weir.ratelimit.core.policy.TierSelector;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.TierResolver;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** The resolvers of the application, whose look-ups have a deadline and whose failures are reported. */
public final class BoundedResolvers {
    private final Map<String, KeyResolver> keys = new HashMap<>();
    private final Map<String, TierSelector> tiers = new HashMap<>();

    /** The listener of failures. The resolvers exist before the telemetry. */
    private ResolverListener listener = (kind, resolver, failure) -> {};

    public BoundedResolvers(
            Map<String, KeyResolver> keyResolvers,
            Map<String, TierResolver> tierResolvers,
            LookupTimes times,
            Supplier<Executor> threads) {
        keyResolvers.forEach(
                (name, resolver) -> keys.put(name, new BoundedKeyResolver(name, resolver, times, this::failed)));
        tierResolvers.forEach(
                (name, resolver) -> tiers.put(name, new TierLookups(name, resolver, times, threads, this::failed)));
    }

    public void listener(ResolverListener next) {
        listener = next;
    }

    public Map<String, KeyResolver> keys() {
        return keys;
    }

    public Map<String, TierSelector> tiers() {
        return tiers;
    }

    private void failed(ResolverListener.Kind kind, String resolver, SourceListener.Failure failure) {
        listener.failed(kind, resolver, failure);
    }
}
