// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Receipt;
import java.util.List;
import java.util.function.Predicate;

/**
 * A receipt with separate charges, so that some of them can be refunded without the others.
 *
 * <p>Policies with {@code count=success} or {@code count=failure} need this type: if the receipts of a backend do not implement it, the
 * charges of these policies are never refunded.
 */
public interface ChargeReceipt extends Receipt {

    /**
     * Returns the charges.
     *
     * @return all charges, including those that are refunded
     */
    List<Charge> charges();

    /**
     * Moves the selected charges from this receipt to a new receipt. If several threads move the same charge, exactly one of them
     * receives it.
     *
     * @param selection the selected charges
     * @return a receipt for the selected charges that were neither refunded nor moved before; it can be empty
     */
    ChargeReceipt split(Predicate<Charge> selection);
}
