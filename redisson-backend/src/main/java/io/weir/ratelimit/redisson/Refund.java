// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Charge;
import java.util.List;

/**
 * A call of {@code refund.lua}, whose keys are all in one slot.
 *
 * @param operation what happens to the keys
 * @param charges the charges
 * @param receipt each charge with the states right after it; empty if the operation is not by receipt
 */
record Refund(Operation operation, List<Charge> charges, List<ChargeStates> receipt) {
    enum Operation {
        /** Returns the permits of charges, as far as they still count. */
        BY_RECEIPT,
        /** Returns the cost of a charge that was spent at an unknown time. */
        BY_COST,
        /** Removes the states. */
        RESET
    }

    static Refund byReceipt(List<ChargeStates> receipt) {
        return new Refund(
                Operation.BY_RECEIPT, receipt.stream().map(ChargeStates::charge).toList(), List.copyOf(receipt));
    }

    static Refund byReceipt(Charge charge, List<LimitState> states) {
        return byReceipt(List.of(new ChargeStates(charge, states)));
    }

    static Refund byCost(Charge charge) {
        return new Refund(Operation.BY_COST, List.of(charge), List.of());
    }

    /** Returns a refund that removes the states of a charge, whose cost has no meaning. */
    static Refund reset(Charge charge) {
        return new Refund(Operation.RESET, List.of(charge), List.of());
    }
}
