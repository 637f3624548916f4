// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import org.junit.jupiter.api.Tag;

/** Checks the arithmetic of {@link LimitState} against the contract and its reference model. */
@Tag("ci")
final class LimitStateBackendTest extends RateLimitBackendContract {
    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return new LimitStateBackend(time);
    }
}
