// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Receipt;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;

/** The capability of a {@link RateLimitBackend} to replace reserved costs by actual costs. */
public interface SettlesCharges {
    /**
     * Replaces the cost of charges of a receipt by the actual cost, as if they had been charged with it, without blocking the thread. Each
     * charge is settled once.
     *
     * <p><b>Less.</b> The difference is refunded like {@link RateLimitBackend#refund(Receipt)}: only the permits that still count.
     *
     * <p><b>More.</b> The difference is charged, although the limit may have no room. A window and a log count it with the charge, and not
     * after the window of the charge has passed. A bucket counts the part of it that has not returned since the charge. The difference
     * never raises what a limit counts above its capacity (with a max-wait, and the permits that return within it) plus the permits of
     * one window; a sliding log counts at most {@link Limit#MAX_LOG_PERMITS}. Permits above the limit that a settlement has charged
     * count in full, but under a lowered limit at most up to the same bound of that limit. Deleted state is not charged, except that of
     * a bucket.
     *
     * <p>A charge that was refunded before is not settled. A later refund of the receipt refunds the actual cost. A backend may bound the
     * number of pending settlements. A settlement beyond the bound fails with {@link BackendException.Reason#FULL}.
     *
     * @param receipt a receipt of this backend, or {@link Receipt#EMPTY}
     * @param selection the charges that are settled
     * @param actualCost the actual cost in permits, 0 or more
     * @return a stage that completes after the settlement with the charges that this call settles and the cost that was reserved, or with a
     *     {@link BackendException}
     */
    CompletionStage<List<Charge>> settle(Receipt receipt, Predicate<Charge> selection, long actualCost);
}
