// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.engine.KeyAdministration;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.instance.EngineFactory;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.Readings;
import io.weir.ratelimit.core.snapshot.Reload;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import java.util.Optional;
import java.util.function.Supplier;

/** The engine and the objects that it works with; the number of live instances is present if it is learned. */
record EngineParts(
        EngineFactory factory,
        RateLimitEngine engine,
        BackendHealth health,
        KeyAdministration keys,
        KnownKeys known,
        Supplier<PolicySnapshot> policies,
        Reload reload,
        Readings readings,
        Optional<LiveInstances> live) {
    /** The state that this instance keeps of keys. */
    record KnownKeys(Overrides overrides, TopKeysTracker topKeys, KnownBlocks blocks) {}
}
