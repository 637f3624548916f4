// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.PartialRefundContract;

final class LimitStatePartialRefundTest extends PartialRefundContract {
    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return new LimitStateBackend(time);
    }
}
