// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.Readings;
import io.weir.ratelimit.core.snapshot.Reload;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * The engine and what it works with.
 *
 * @param engine decides
 * @param health the health of the backend
 * @param known what this instance knows of keys
 * @param policies the policies in force
 * @param reload loads other policies
 * @param readings the results of reading the configuration
 * @param live the number of live instances, if it is learned
 * @param instances the number of instances, which failure modes use
 */
record EngineParts(
        RateLimitEngine engine,
        BackendHealth health,
        KnownKeys known,
        Supplier<PolicySnapshot> policies,
        Reload reload,
        Readings readings,
        Optional<LiveInstances> live,
        IntSupplier instances) {
    /**
     * What this instance knows of keys.
     *
     * @param overrides the limits of single keys
     * @param topKeys the keys with the most permits
     * @param blocks the blocked keys
     */
    record KnownKeys(Overrides overrides, TopKeysTracker topKeys, KnownBlocks blocks) {}
}
