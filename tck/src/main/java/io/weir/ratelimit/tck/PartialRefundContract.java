// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import io.weir.ratelimit.spi.RateLimitBackend;

/**
 * The {@linkplain RefundContract refund contract} for receipts that are split: each charge of a receipt is refunded separately and
 * asynchronously.
 */
public abstract class PartialRefundContract extends BackendFixture implements RefundContract {
    @Override
    final RateLimitBackend decorated(RateLimitBackend backend) {
        return new SplitRefundBackend(backend);
    }
}
