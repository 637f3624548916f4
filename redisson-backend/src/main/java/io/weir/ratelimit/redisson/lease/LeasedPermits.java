// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.spi.Charge;

/** Permits of a lease that one call has spent. */
public record LeasedPermits(KeyLease lease, Grant grant, Charge charge, long left) {
    /** Returns the charge as a receipt contains it. */
    public ChargeStates receiptEntry() {
        return new ChargeStates(charge, grant.receiptStates(left));
    }

    /** Returns the decision on a call of one limit. Its quota is calculated when it is read. */
    Decision.Allowed allowed(long nowNanos) {
        return new Decision.Allowed(
                lease.latestGrant(grant).quota(charge, lease.unspent(), nowNanos),
                new BackendReceipt(charge, grant.receiptStates(left).get(0)));
    }

    /** Returns the result of the charge. */
    ChargeResult result(long nowNanos) {
        return lease.latestGrant(grant).result(charge, lease.unspent(), nowNanos);
    }

    /** Refunds the permits, to the lease if it has a place for them. */
    public void refund(long nowNanos) {
        lease.refund(this, nowNanos);
    }
}
