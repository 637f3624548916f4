// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.TokenBucketState;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** The settlement of charges with one actual cost. */
final class LocalSettlement {
    private record SettledLimit(ChargeStates charged, int index) {
        StateKey key() {
            return StateKey.of(charged.charge(), index);
        }

        Limit limit() {
            return charged.charge().policy().limits().get(index);
        }
    }

    private final StateTable table;
    private final TimeSource time;
    private final long actualCost;

    /** The limits whose permits have returned, so that they have no state any more, and no place for one. */
    private List<SettledLimit> unplaced = List.of();

    LocalSettlement(StateTable table, TimeSource time, long actualCost) {
        this.table = table;
        this.time = time;
        this.actualCost = actualCost;
    }

    /** Settles the selected charges of a receipt, and returns them. */
    List<Charge> settle(BackendReceipt receipt, Predicate<Charge> selection) {
        List<Charge> settled = new ArrayList<>();
        table.locked(receipt.charges(), () -> {
            // As a refund, a settlement claims under the locks.
            List<SettledLimit> limits = new ArrayList<>();
            for (ChargeStates charged : receipt.settle(selection, actualCost)) {
                settled.add(charged.charge());
                for (int i = 0; i < charged.states().size(); i++) {
                    limits.add(new SettledLimit(charged, i));
                }
            }
            settleLocked(limits);
        });
        while (!unplaced.isEmpty() && table.removeUntouched(time)) {
            table.locked(receipt.charges(), () -> settleLocked(unplaced));
        }
        return settled;
    }

    /** Returns whether the table had places for the debt of all keys. */
    boolean isComplete() {
        return unplaced.isEmpty();
    }

    private void settleLocked(List<SettledLimit> limits) {
        List<SettledLimit> withoutPlace = new ArrayList<>();
        int removed = 0;
        for (SettledLimit each : limits) {
            StoredState stored = table.find(each.key());
            if (stored != null) {
                removed += settle(each, stored) ? 1 : 0;
            } else if (!addDebt(each, time.micros())) {
                withoutPlace.add(each);
            }
        }
        table.release(removed);
        unplaced = withoutPlace;
    }

    /** Replaces a stored state. Returns true if it was removed, because it equals an untouched one. */
    private boolean settle(SettledLimit each, StoredState stored) {
        LimitState before = stored.take();
        LimitState after = before;
        long now = time.micros();
        try {
            after = settled(each, stored.limit, before, now);
        } finally {
            stored.put(after);
        }
        // A higher cost delays the instant at which the state equals an untouched one, so its place in the queue may
        // stay.
        return actualCost < each.charged.charge().cost() && !after.equals(before) && table.refunded(stored, now);
    }

    private LimitState settled(SettledLimit each, Limit latest, LimitState state, long nowMicros) {
        return state.settle(
                latest,
                each.limit(),
                each.charged.states().get(each.index),
                each.charged.charge().cost(),
                actualCost,
                nowMicros);
    }

    /** Adds a state for a bucket to which all permits of the charge have returned. Returns false if there is no place. */
    private boolean addDebt(SettledLimit each, long nowMicros) {
        LimitState untouched = LimitState.untouched(each.limit(), nowMicros);
        LimitState state =
                untouched instanceof TokenBucketState ? settled(each, each.limit(), untouched, nowMicros) : untouched;
        if (state.equals(untouched)) {
            return true;
        }
        if (!table.reserve(1, nowMicros)) {
            return false;
        }
        table.add(each.key(), each.limit(), state, 0, nowMicros);
        return true;
    }
}
