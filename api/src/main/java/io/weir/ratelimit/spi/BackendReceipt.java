// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Receipt;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The receipt that a store makes for what it charged: for each limit the state right after the charge. */
public final class BackendReceipt implements Receipt {

    /**
     * What was spent under the limits of one policy.
     *
     * @param charge the charge
     * @param states the state of each limit right after it
     */
    public record Entry(Charge charge, List<LimitState> states) {}

    private final List<Charge> charges;
    private final List<LimitState> states;

    /** The charges that were given back or are in the hand of who does, by their place; none yet if null. Guarded by this. */
    private @Nullable BitSet taken;

    /**
     * A receipt over several charges.
     *
     * @param charges what was charged
     * @param states the states right after, one per limit in the order of the charges and their limits
     */
    public BackendReceipt(List<Charge> charges, List<LimitState> states) {
        this.charges = List.copyOf(charges);
        this.states = List.copyOf(states);
    }

    /**
     * What was charged.
     *
     * @return the charges, whether they were given back or not
     */
    public List<Charge> charges() {
        return charges;
    }

    /**
     * Takes the charges to give back; the receipt is used from then on.
     *
     * @return one entry per charge that was not taken before, by this or as a {@link #part}
     */
    public List<Entry> use() {
        return take(charge -> true);
    }

    /**
     * Takes some charges out, to be given back by themselves: this receipt gives back no more than the rest from then on. Of
     * several threads that take the same charge, one gets it.
     *
     * @param which the charges
     * @return a receipt over those of them that were not taken before, over nothing if there is none
     */
    public BackendReceipt part(Predicate<Charge> which) {
        return of(take(which));
    }

    /**
     * A receipt over what was taken from others.
     *
     * @param entries each is given back by the new receipt only
     * @return the receipt
     */
    public static BackendReceipt of(List<Entry> entries) {
        List<Charge> charges = new ArrayList<>();
        List<LimitState> states = new ArrayList<>();
        for (Entry entry : entries) {
            charges.add(entry.charge());
            states.addAll(entry.states());
        }
        return new BackendReceipt(charges, states);
    }

    private List<Entry> take(Predicate<Charge> which) {
        BitSet wanted = new BitSet();
        for (int i = 0; i < charges.size(); i++) {
            wanted.set(i, which.test(charges.get(i)));
        }
        note(wanted);
        List<Entry> entries = new ArrayList<>();
        int from = 0;
        for (int i = 0; i < charges.size(); i++) {
            int to = from + charges.get(i).policy().limits().size();
            if (wanted.get(i)) {
                entries.add(new Entry(charges.get(i), states.subList(from, to)));
            }
            from = to;
        }
        return entries;
    }

    /** Leaves of what is wanted what is not taken, which then is. */
    private synchronized void note(BitSet wanted) {
        if (taken == null) {
            taken = new BitSet();
        }
        wanted.andNot(taken);
        taken.or(wanted);
    }

    /** Does not show whom it belongs to. */
    @Override
    public String toString() {
        return "Receipt" + charges;
    }
}
