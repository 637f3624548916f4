// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.RateLimitBackendContract;

/** Checks the arithmetic of {@link LimitState} against the contract and its reference model. */
final class LimitStateBackendTest extends RateLimitBackendContract {
    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return new LimitStateBackend(time);
    }
}
