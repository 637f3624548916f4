// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A decision that only checks whether an unavailable backend is available again. */
final class ReadinessProbe {
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * The stored key is not that of a caller, because those begin with a kind. The probe spends, because some failures affect
     * only writes.
     */
    private static final List<Charge> CHARGES = List.of(new Charge(
            new PolicyLimits(
                    "health", List.of(Limit.of(Algorithm.FIXED_WINDOW, Limit.MAX_PERMITS, Duration.ofSeconds(1)))),
            "health",
            1));

    private final RateLimitBackend backend;
    private final LongSupplier nanoTime;
    private final AtomicLong lastNanos;

    ReadinessProbe(RateLimitBackend backend, LongSupplier nanoTime) {
        this.backend = backend;
        this.nanoTime = nanoTime;
        this.lastNanos = new AtomicLong(nanoTime.getAsLong() - INTERVAL_NANOS);
    }

    /** Returns whether a second has passed since the last probe and the breaker lets a call through. If so, the caller must probe. */
    boolean isDue(RateLimitBackend.Status status) {
        if (status.breakerOpen() && !status.probeAfter().isZero()) {
            return false;
        }
        long now = nanoTime.getAsLong();
        long last = lastNanos.get();
        return now - last >= INTERVAL_NANOS && lastNanos.compareAndSet(last, now);
    }

    /** Calls the backend and returns its failure; empty if the backend has decided. */
    Optional<BackendException> run() {
        try {
            backend.acquire(CHARGES);
            return Optional.empty();
        } catch (RuntimeException e) {
            return Optional.of(FallbackBackend.asBackendException(e));
        }
    }
}
