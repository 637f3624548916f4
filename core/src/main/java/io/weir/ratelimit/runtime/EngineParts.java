// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.instance.InstanceCallers;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.snapshot.PolicySnapshot;
import io.weir.ratelimit.core.snapshot.Readings;
import io.weir.ratelimit.core.snapshot.Reload;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** The engine and what it works with. The number of instances, which failure modes use, is learned if {@code live} is present, else configured. */
record EngineParts(
        RateLimitEngine engine,
        BackendHealth health,
        Overrides overrides,
        InstanceCallers callers,
        Supplier<PolicySnapshot> policies,
        Reload reload,
        Readings readings,
        Optional<LiveInstances> live,
        IntSupplier instances) {}
