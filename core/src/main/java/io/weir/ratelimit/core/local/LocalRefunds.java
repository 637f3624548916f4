// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.TimeSource;
import java.util.List;

/** The refunds of charges and the resets of keys. */
final class LocalRefunds {
    private final StateTable table;
    private final TimeSource time;

    LocalRefunds(StateTable table, TimeSource time) {
        this.table = table;
        this.time = time;
    }

    /** Refunds a receipt. A second refund has no effect. */
    void refund(BackendReceipt receipt) {
        // Claims under the locks: a second refund of the receipt returns only after the first has refunded everything.
        // Releases once: a size between two charges would be that of half a refund.
        table.locked(
                receipt.charges(),
                () -> table.release(
                        receipt.claim().stream().mapToInt(this::refundLocked).sum()));
    }

    /** Refunds from the stored states. Their limit can differ from the limit that was charged. */
    private int refundLocked(ChargeStates charged) {
        Charge charge = charged.charge();
        return changeLocked(
                charge,
                (stored, state, limit, i, now) ->
                        state.refund(stored.limit, limit, charged.states().get(i), charge.cost(), now));
    }

    void refund(Charge charge) {
        table.locked(
                List.of(charge),
                () -> table.release(changeLocked(charge, (stored, state, limit, i, now) -> {
                    stored.limit = limit;
                    return state.asOf(limit, now).refund(limit, charge.cost());
                })));
    }

    /** Removes the states of a charge whose shards are locked. */
    void resetLocked(Charge charge) {
        table.release(changeLocked(charge, (stored, state, limit, i, now) -> LimitState.untouched(limit, now)));
    }

    /** A function from a stored state to its new state. */
    private interface StateChange {
        LimitState apply(StoredState stored, LimitState state, Limit limit, int index, long nowMicros);
    }

    /** Changes the stored states of a charge whose shards are locked. Returns the number of removed states. */
    private int changeLocked(Charge charge, StateChange change) {
        int removed = 0;
        List<Limit> limits = charge.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            StoredState stored = table.find(StateKey.of(charge, i));
            if (stored == null) {
                continue;
            }
            LimitState taken = stored.take();
            long now = time.micros();
            LimitState before = table.afterSteps(taken);
            LimitState after = before;
            try {
                after = change.apply(stored, before, limits.get(i), i, now);
            } finally {
                stored.put(after);
            }
            if (!after.equals(before) && table.refunded(stored, now)) {
                removed++;
            }
        }
        return removed;
    }
}
