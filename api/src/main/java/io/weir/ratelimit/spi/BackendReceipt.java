// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Receipt;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/** The receipt that a store makes for what it charged: for each limit the state right after the charge. */
public final class BackendReceipt implements Receipt {

    /**
     * What was spent under the limits of one policy.
     *
     * @param charge the charge
     * @param states the state of each limit right after it
     */
    public record Entry(Charge charge, List<LimitState> states) {}

    private static final AtomicIntegerFieldUpdater<BackendReceipt> USED =
            AtomicIntegerFieldUpdater.newUpdater(BackendReceipt.class, "used");

    private final List<Charge> charges;
    private final List<LimitState> states;

    @SuppressWarnings("unused") // written through USED
    private volatile int used;

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
     * @return one entry per charge the first time, none after
     */
    public List<Entry> use() {
        if (!USED.compareAndSet(this, 0, 1)) {
            return List.of();
        }
        List<Entry> entries = new ArrayList<>();
        int from = 0;
        for (Charge charge : charges) {
            int to = from + charge.policy().limits().size();
            entries.add(new Entry(charge, states.subList(from, to)));
            from = to;
        }
        return entries;
    }

    /** Does not show whom it belongs to. */
    @Override
    public String toString() {
        return "Receipt" + charges;
    }
}
