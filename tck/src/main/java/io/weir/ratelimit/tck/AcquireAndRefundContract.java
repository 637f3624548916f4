// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

/**
 * The acquire, refund and settle parts of {@link RateLimitBackendContract}: for a backend that passes the whole contract, in an environment
 * that changes its connection or its load only.
 */
public abstract class AcquireAndRefundContract extends BackendFixture
        implements AcquireContract, RefundContract, SettleContract {}
