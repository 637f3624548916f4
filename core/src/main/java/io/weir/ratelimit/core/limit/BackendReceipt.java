// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The receipt of a backend: each charge with the states right after it was spent. Each charge can be claimed once. */
public final class BackendReceipt implements ChargeReceipt {
    /** The charge and the state of a receipt for one limit; null if {@link #several} is not. */
    private final @Nullable Charge only;

    private final @Nullable LimitState onlyState;
    private final @Nullable List<ChargeStates> several;

    /** The positions of the claimed charges; null while there are none. Guarded by this. */
    private @Nullable BitSet claimed;

    /**
     * Creates a receipt.
     *
     * @param charged each charge with the state of its limits right after the charge
     */
    public BackendReceipt(List<ChargeStates> charged) {
        this.only = null;
        this.onlyState = null;
        this.several = List.copyOf(charged);
    }

    /**
     * Creates a receipt for a charge of one limit.
     *
     * @param charge the charge
     * @param state the state of its limit right after the charge
     */
    public BackendReceipt(Charge charge, LimitState state) {
        this.only = charge;
        this.onlyState = state;
        this.several = null;
    }

    private List<ChargeStates> charged() {
        return only == null || onlyState == null
                ? Objects.requireNonNull(several)
                : List.of(new ChargeStates(only, List.of(onlyState)));
    }

    @Override
    public List<Charge> charges() {
        return charged().stream().map(ChargeStates::charge).toList();
    }

    /**
     * Claims the charges, so that the caller can refund them and no other caller can.
     *
     * @return the charges that were neither claimed before nor moved to a {@link #split}
     */
    public List<ChargeStates> claim() {
        return claim(charge -> true);
    }

    @Override
    public BackendReceipt split(Predicate<Charge> selection) {
        return new BackendReceipt(claim(selection));
    }

    private List<ChargeStates> claim(Predicate<Charge> selection) {
        List<ChargeStates> charged = charged();
        BitSet selected = new BitSet();
        for (int i = 0; i < charged.size(); i++) {
            selected.set(i, selection.test(charged.get(i).charge()));
        }
        excludeClaimed(selected);
        return selected.stream().mapToObj(charged::get).toList();
    }

    /** Removes the claimed positions from a selection and marks the others as claimed. */
    private synchronized void excludeClaimed(BitSet selected) {
        if (claimed == null) {
            claimed = new BitSet();
        }
        selected.andNot(claimed);
        claimed.or(selected);
    }

    /** Returns a text without the stored keys, which can contain personal data. */
    @Override
    public String toString() {
        return "Receipt" + charges();
    }
}
