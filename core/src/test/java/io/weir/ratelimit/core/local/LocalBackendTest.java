// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.RateLimitBackendContract;

final class LocalBackendTest extends RateLimitBackendContract {
    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return new LocalBackend(100_000, time);
    }
}
