// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.ConcurrencyState;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;

/** The release and the renewal of the slots of receipts. */
final class LocalSlots {
    private final StateTable table;
    private final TimeSource time;

    LocalSlots(StateTable table, TimeSource time) {
        this.table = table;
        this.time = time;
    }

    /** Releases the slots of a receipt, and returns whether it had all of them. */
    boolean release(BackendReceipt receipt) {
        boolean complete = true;
        for (ChargeStates charged : receipt.slots()) {
            complete &= release(charged.charge(), charged.slot());
        }
        receipt.slotsReleased();
        return complete || receipt.isClaimed();
    }

    private boolean release(Charge charge, long slot) {
        return table.locked(List.of(charge), () -> {
            StoredState stored = table.find(key(charge));
            if (stored == null) {
                return false;
            }
            ConcurrencyState taken = (ConcurrencyState) stored.take();
            long now = time.micros();
            ConcurrencyState before = (ConcurrencyState) table.afterSteps(taken);
            ConcurrencyState after = before.release(slot);
            stored.put(after);
            // A key that still has slots keeps its place in the queue, which is late by one timeout at most.
            if (after.held() == 0 && table.refunded(stored, now)) {
                table.release(1);
            }
            return before.asOf(limit(charge), now).has(slot);
        });
    }

    /** Renews the slots of receipts, and returns the receipts that have lost one. */
    List<Receipt> renew(List<Receipt> receipts) {
        List<Receipt> lost = new ArrayList<>();
        for (Receipt receipt : receipts) {
            if (receipt instanceof BackendReceipt held) {
                boolean complete = true;
                for (ChargeStates charged : held.slots()) {
                    complete &= renew(charged);
                }
                if (!complete) {
                    lost.add(receipt);
                }
            }
        }
        return lost;
    }

    private boolean renew(ChargeStates charged) {
        Charge charge = charged.charge();
        return table.locked(List.of(charge), () -> {
            StoredState stored = table.find(key(charge));
            if (stored == null) {
                return false;
            }
            ConcurrencyState taken = (ConcurrencyState) stored.take();
            long now = time.micros();
            Limit limit = limit(charge);
            ConcurrencyState before = (ConcurrencyState) table.afterSteps(taken);
            ConcurrencyState live = before.asOf(limit, now);
            boolean found = live.has(charged.slot());
            stored.put(found ? live.renew(charged.slot(), now + limit.windowMicros()) : before);
            return found;
        });
    }

    private static Limit limit(Charge charge) {
        return charge.policy().limits().get(charge.policy().concurrencyIndex());
    }

    private static StateKey key(Charge charge) {
        return StateKey.of(charge, charge.policy().concurrencyIndex());
    }
}
