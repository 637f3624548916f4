// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.local;

import io.weir.ratelimit.spi.PartialGiveBackContract;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;

final class LocalPartialGiveBackTest extends PartialGiveBackContract {
    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return new LocalBackend(100_000, time);
    }
}
