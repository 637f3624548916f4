// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The receipt of a backend: each charge with the states right after it was spent. Each charge can be settled once, and claimed once for a
 * refund, which refunds the actual cost of a settled charge.
 */
public final class BackendReceipt implements ChargeReceipt {
    /** The charge and the state of a receipt for one limit; null if {@link #several} is not. */
    private final @Nullable Charge only;

    private final @Nullable LimitState onlyState;
    private final @Nullable List<ChargeStates> several;

    /** What has been done with the charges; null while it is nothing, as for most receipts. Guarded by this. */
    private @Nullable Uses uses;

    private static final class Uses {
        /** The positions of the claimed charges. */
        private final BitSet claimed = new BitSet();

        /** The settled charges by position, with their actual cost. */
        private final Map<Integer, ChargeStates> settled = new HashMap<>();

        private boolean slotsReleased;
    }

    /** Creates a receipt of charges with the states of their limits right after each charge. */
    public BackendReceipt(List<ChargeStates> charged) {
        this.only = null;
        this.onlyState = null;
        this.several = List.copyOf(charged);
    }

    /** Creates a receipt for a charge of one limit with the state right after the charge. */
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

    /** Returns the charges that can be settled: those that were neither claimed nor settled nor moved to a {@link #split}. */
    public List<Charge> unsettled() {
        List<Charge> open = new ArrayList<>();
        List<ChargeStates> charged = charged();
        synchronized (this) {
            for (int i = 0; i < charged.size(); i++) {
                if (uses == null || (!uses.claimed.get(i) && !uses.settled.containsKey(i))) {
                    open.add(charged.get(i).charge());
                }
            }
        }
        return open;
    }

    @Override
    public boolean holdsSlots() {
        if (only != null) {
            return only.policy().hasConcurrency();
        }
        List<ChargeStates> charged = charged();
        for (int i = 0; i < charged.size(); i++) {
            if (charged.get(i).charge().policy().hasConcurrency()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the charges with slots that are not reported as {@linkplain #slotsReleased released}, also those that are claimed or moved to
     * a {@link #split}: to release a slot twice has no effect.
     */
    public List<ChargeStates> slots() {
        if (!holdsSlots()) {
            return List.of();
        }
        synchronized (this) {
            if (uses != null && uses.slotsReleased) {
                return List.of();
            }
        }
        return charged().stream()
                .filter(charged -> charged.charge().policy().hasConcurrency())
                .toList();
    }

    /**
     * Tests whether a charge is claimed or moved to a {@link #split}, so that another call can have released slots of this receipt with a
     * refund.
     */
    public synchronized boolean isClaimed() {
        return uses != null && !uses.claimed.isEmpty();
    }

    /** Reports that all slots are released. */
    public synchronized void slotsReleased() {
        uses().slotsReleased = true;
    }

    /** Returns the record of what is done with the charges. The caller holds the monitor. */
    private Uses uses() {
        Uses known = uses;
        if (known == null) {
            known = new Uses();
            uses = known;
        }
        return known;
    }

    /**
     * Claims the charges, so that the caller can refund them and no other caller can. Returns those that were neither claimed before nor
     * moved to a {@link #split}.
     */
    public List<ChargeStates> claim() {
        return claim(charge -> true);
    }

    @Override
    public BackendReceipt split(Predicate<Charge> selection) {
        List<ChargeStates> charged = charged();
        BitSet selected = select(charged, selection);
        synchronized (this) {
            excludeClaimed(selected);
            BackendReceipt part =
                    new BackendReceipt(selected.stream().mapToObj(charged::get).toList());
            int position = 0;
            for (int i = selected.nextSetBit(0); i >= 0; i = selected.nextSetBit(i + 1)) {
                ChargeStates actual = uses().settled.get(i);
                if (actual != null) {
                    part.uses().settled.put(position, actual);
                }
                position++;
            }
            return part;
        }
    }

    private List<ChargeStates> claim(Predicate<Charge> selection) {
        List<ChargeStates> charged = charged();
        BitSet selected = select(charged, selection);
        synchronized (this) {
            excludeClaimed(selected);
            return selected.stream()
                    .mapToObj(i -> uses().settled.getOrDefault(i, charged.get(i)))
                    .toList();
        }
    }

    /**
     * Marks the selected charges as settled, so that the caller can settle them and no other caller can. Returns the charges, with their
     * reserved cost, that were neither claimed nor settled nor moved to a {@link #split} before.
     *
     * @param actualCost the actual cost in permits, 0 or more
     */
    public List<ChargeStates> settle(Predicate<Charge> selection, long actualCost) {
        List<ChargeStates> charged = charged();
        BitSet selected = select(charged, selection);
        synchronized (this) {
            selected.andNot(uses().claimed);
            Map<Integer, ChargeStates> settled = uses().settled;
            List<ChargeStates> due = new ArrayList<>();
            BitSet returned = new BitSet();
            for (int i = selected.nextSetBit(0); i >= 0; i = selected.nextSetBit(i + 1)) {
                if (!settled.containsKey(i)) {
                    ChargeStates reserved = charged.get(i);
                    due.add(reserved);
                    settled.put(i, actualCost == 0 ? reserved : reserved.chargedWith(actualCost));
                    returned.set(i, actualCost == 0);
                }
            }
            // Nothing of these is left to refund.
            excludeClaimed(returned);
            return due;
        }
    }

    /**
     * Reports that a settlement has failed. The charges remain settled, but a refund returns their reserved cost at most, because it is
     * unknown whether more was charged.
     */
    public void settlementFailed(List<Charge> charges) {
        List<ChargeStates> charged = charged();
        synchronized (this) {
            for (int i = 0; i < charged.size(); i++) {
                ChargeStates reserved = charged.get(i);
                if (charges.contains(reserved.charge())) {
                    uses().settled
                            .computeIfPresent(
                                    i,
                                    (position, actual) -> actual.charge().cost()
                                                    > reserved.charge().cost()
                                            ? reserved
                                            : actual);
                }
            }
        }
    }

    private static BitSet select(List<ChargeStates> charged, Predicate<Charge> selection) {
        BitSet selected = new BitSet();
        for (int i = 0; i < charged.size(); i++) {
            selected.set(i, selection.test(charged.get(i).charge()));
        }
        return selected;
    }

    /** Removes the claimed positions from a selection and marks the others as claimed. The caller holds the monitor. */
    private void excludeClaimed(BitSet selected) {
        selected.andNot(uses().claimed);
        uses().claimed.or(selected);
    }

    /** Returns a text without the stored keys, which can contain personal data. */
    @Override
    public String toString() {
        return "Receipt" + charges();
    }
}
