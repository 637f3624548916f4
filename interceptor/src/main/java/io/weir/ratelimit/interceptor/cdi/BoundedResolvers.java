// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.core.policy.BoundedKeyResolver;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.ResolverListener;
import io.weir.ratelimit.core.policy.SourceListener;
import io.weir.ratelimit.core.policy.TierLookups;
import io.weir.ratelimit.core.policy.TierSelector;
import io.weir.ratelimit.interceptor.telemetry.Telemetry;
import io.weir.ratelimit.spi.KeyResolver;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/** The resolvers of the application, whose look-ups have a deadline and whose failures are reported. */
final class BoundedResolvers {
    private final NamedResolvers beans;
    private final LookupTimes times;
    private final Supplier<Executor> threads;

    /** The listener of failures. The resolvers exist before the telemetry. */
    private ResolverListener listener = Telemetry.NONE.resolvers();

    /**
     * Creates the resolvers.
     *
     * @param beans the resolvers of the application
     * @param times the times of look-ups
     * @param threads the threads of look-ups of tiers
     */
    BoundedResolvers(NamedResolvers beans, LookupTimes times, Supplier<Executor> threads) {
        this.beans = beans;
        this.times = times;
        this.threads = threads;
    }

    /** Sets the listener of later failures. */
    void listener(ResolverListener next) {
        listener = next;
    }

    /** Returns the key resolvers by name. */
    Map<String, KeyResolver> keys() {
        Map<String, KeyResolver> keys = new HashMap<>();
        beans.keyResolvers()
                .forEach((name, bean) -> keys.put(name, new BoundedKeyResolver(name, bean, times, this::failed)));
        return keys;
    }

    /** Returns the tier resolvers by name. */
    Map<String, TierSelector> tiers() {
        Map<String, TierSelector> tiers = new HashMap<>();
        beans.tierResolvers()
                .forEach((name, bean) -> tiers.put(name, new TierLookups(name, bean, times, threads, this::failed)));
        return tiers;
    }

    private void failed(ResolverListener.Kind kind, String resolver, SourceListener.Failure failure) {
        listener.failed(kind, resolver, failure);
    }
}
