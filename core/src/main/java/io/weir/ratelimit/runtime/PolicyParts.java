// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.config.ConfigSnapshot;
import io.weir.ratelimit.core.instance.BoundedResolvers;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.OverrideSources;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.PolicySnapshotLoader;
import io.weir.ratelimit.spi.RateLimitBackend;

/** The parts that the configuration and the application determine, with the first policies and their configuration. */
record PolicyParts(
        ConfigSnapshot config,
        Lookups lookups,
        RateLimitBackend backend,
        PolicySnapshotLoader loader,
        PolicySnapshot snapshot) {
    /** The look-ups of keys, tiers and limits; the bounded resolvers have a deadline. */
    record Lookups(
            ClientAddress addresses,
            LookupTimes times,
            BoundedResolvers bounded,
            Resolvers resolvers,
            OverrideSources sources) {
        Lookups with(OverrideSources overrides) {
            return new Lookups(addresses, times, bounded, resolvers, overrides);
        }
    }
}
