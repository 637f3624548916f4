// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Charge;
import java.util.List;

/**
 * A call of {@code refund.lua}, whose keys are all in one slot. The receipt has each charge with the states right after it, and is empty if
 * the operation is not by receipt.
 */
public record Refund(Operation operation, List<Charge> charges, List<ChargeStates> receipt) {
    public enum Operation {
        /** Returns the permits of charges, as far as they still count. */
        BY_RECEIPT,
        /** Charges more permits with earlier charges, as far as they still count. */
        RAISE,
        /** Returns the cost of a charge that was spent at an unknown time. */
        BY_COST,
        /** Removes the states. */
        RESET
    }

    public static Refund byReceipt(List<ChargeStates> receipt) {
        return new Refund(
                Operation.BY_RECEIPT, receipt.stream().map(ChargeStates::charge).toList(), List.copyOf(receipt));
    }

    public static Refund byReceipt(Charge charge, List<LimitState> states) {
        return byReceipt(List.of(new ChargeStates(charge, states)));
    }

    /** Returns the call that replaces the cost of charges by the actual cost. Either all actual costs are greater, or none is. */
    public static Refund settlement(List<ChargeStates> receipt, long actualCost) {
        List<ChargeStates> differences = receipt.stream()
                .map(charged -> new ChargeStates(withDifference(charged.charge(), actualCost), charged.states()))
                .toList();
        Operation operation = receipt.get(0).charge().cost() < actualCost ? Operation.RAISE : Operation.BY_RECEIPT;
        return new Refund(
                operation, differences.stream().map(ChargeStates::charge).toList(), differences);
    }

    private static Charge withDifference(Charge charge, long actualCost) {
        long difference = Math.abs(actualCost - charge.cost());
        return new Charge(charge.policy(), charge.storedKey(), difference, charge.maxWaitMicros(), charge.shadow());
    }

    public static Refund byCost(Charge charge) {
        return new Refund(Operation.BY_COST, List.of(charge), List.of());
    }

    /** Returns a refund that removes the states of charges, whose cost has no meaning. */
    public static Refund reset(List<Charge> charges) {
        return new Refund(Operation.RESET, charges, List.of());
    }
}
