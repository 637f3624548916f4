// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import java.time.Instant;
import org.junit.jupiter.api.Tag;

/** The backend of the kit decides as the contract requires, like those of an application. */
@Tag("ci")
final class TestBackendContractTest extends RateLimitBackendContract {
    @Override
    protected RateLimitBackend backend(TimeSource time) {
        VirtualClock clock = new VirtualClock(Instant.parse(WeirTest.DEFAULT_NOW));
        return new TestBackend(() -> new LocalBackend(100_000, time), new BackendFaults(clock));
    }
}
