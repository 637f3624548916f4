// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Factory of requests, which remember the versions of the cache. A rejection that arrives too late for its caller goes to the cache, and
 * what it has spent too late goes to the consumer.
 */
record RequestFactory(RedisKeys keys, RejectionCache cache, Consumer<AcquireResult> lateSpent) {
    /** Limits of a name that no policy can have. No number of probes reaches them. */
    private static final PolicyLimits PROBE = new PolicyLimits(
            "+probe", List.of(Limit.of(Algorithm.FIXED_WINDOW, Limit.MAX_PERMITS, Duration.ofSeconds(1))));

    AcquireRequest create(List<Charge> charges, Operation operation, long deadlineNanos) {
        return create(charges, keys.of(charges), operation, deadlineNanos);
    }

    /** Creates a request whose keys are known. */
    AcquireRequest create(List<Charge> charges, List<String> storedKeys, Operation operation, long deadlineNanos) {
        long version = cache.version(storedKeys);
        return new AcquireRequest(charges, storedKeys, operation, version, deadlineNanos, late -> {
            if (!late.hasRoom()) {
                // It holds for later calls.
                cache.put(late.charges(), storedKeys, late.time(), version);
            } else if (late.spent()) {
                lateSpent.accept(late);
            }
        });
    }

    /**
     * Creates a probe: a request in the slot of a charge, if there is one, which shows as well whether Redis accepts writes. It spends no
     * permit of any policy.
     */
    AcquireRequest createProbe(@Nullable Charge charge, long deadlineNanos) {
        String storedKey = charge == null ? "none" : charge.storedKey();
        return create(List.of(new Charge(PROBE, storedKey, 1)), Operation.PROBE, deadlineNanos);
    }
}
