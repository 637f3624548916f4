// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.local.LocalClock;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.time.Instant;

/** The clock and the backends of the engine of a test. */
final class TestEnvironment {
    private final VirtualClock clock;
    private final int maxKeys;
    private final BackendFaults faults;
    private final TestBackend backend;
    private final TestBackend fallback;

    TestEnvironment(Instant now, int maxKeys, Duration deadline) {
        this.clock = new VirtualClock(now);
        this.maxKeys = maxKeys;
        this.faults = new BackendFaults(clock, deadline);
        this.backend = new TestBackend(this::freshBackend, faults);
        this.fallback = new TestBackend(this::freshBackend, new BackendFaults(clock, deadline));
    }

    private LocalBackend freshBackend() {
        return new LocalBackend(maxKeys, new LocalClock(clock::nanos, clock::epochMillis));
    }

    VirtualClock clock() {
        return clock;
    }

    BackendFaults faults() {
        return faults;
    }

    TestBackend backend() {
        return backend;
    }

    /** Returns the backend of the failure mode {@code local}. */
    RateLimitBackend fallback() {
        return fallback;
    }

    void reset() {
        backend.reset();
        fallback.reset();
    }

    void resetAll() {
        faults.reset();
        clock.reset();
        reset();
    }
}
