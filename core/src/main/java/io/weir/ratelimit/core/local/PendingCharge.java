// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.List;

/**
 * A charge of an acquire in this backend. The shards of its keys must be locked before its limits are read, and until the end of
 * the acquire.
 */
final class PendingCharge {
    private final Charge charge;
    private final PendingLimit[] limits;
    private boolean hasRoom;

    PendingCharge(Charge charge) {
        this.charge = charge;
        this.limits = new PendingLimit[charge.policy().limits().size()];
        for (int i = 0; i < limits.length; i++) {
            limits[i] = new PendingLimit(StateKey.of(charge, i));
        }
    }

    static PendingCharge[] of(List<Charge> charges) {
        PendingCharge[] pending = new PendingCharge[charges.size()];
        for (int i = 0; i < pending.length; i++) {
            pending[i] = new PendingCharge(charges.get(i));
        }
        return pending;
    }

    /** Returns the set of shards that contain the keys. */
    long shards() {
        long set = 0;
        for (PendingLimit limit : limits) {
            set |= StateTable.shardOf(limit.key());
        }
        return set;
    }

    boolean isShadow() {
        return charge.shadow();
    }

    /** Returns the result of a shadow charge that is not evaluated. */
    ChargeResult unknownResult() {
        return ChargeStates.unknown(charge);
    }

    void take(StateTable table) {
        for (PendingLimit limit : limits) {
            limit.take(table);
        }
    }

    void release() {
        for (PendingLimit limit : limits) {
            limit.release();
        }
    }

    /** Reads the state of each limit and returns the time until the latest slot of the charge, in microseconds. */
    long read(StateTable table, long nowMicros) {
        hasRoom = true;
        long latest = 0;
        long blockEnd = table.blocks().end(charge.policy().policy(), charge.storedKey(), nowMicros);
        for (int i = 0; i < limits.length; i++) {
            Limit limit = limit(i);
            LimitState state = limits[i].read(table, limit, blockEnd, nowMicros);
            long wait = state.retryAfterMicros(limit, charge.cost(), nowMicros);
            hasRoom &= wait <= LimitState.maxDelayMicros(limit, charge.maxWaitMicros());
            latest = Math.max(latest, wait);
        }
        return latest;
    }

    /** Returns whether the limits that were read have room for the charge. */
    boolean hasRoom() {
        return hasRoom;
    }

    /** Returns the number of keys that had no stored state when they were read. */
    int newKeys() {
        int count = 0;
        for (PendingLimit limit : limits) {
            count += limit.isNew() ? 1 : 0;
        }
        return count;
    }

    /** Spends the cost of the charge under each limit. The places of new keys are reserved. */
    void spend(StateTable table, long nowMicros) {
        for (int i = 0; i < limits.length; i++) {
            limits[i].spend(table, limit(i), charge.cost(), nowMicros);
        }
    }

    /** Creates the sketches of new keys. Returns false if there are too many. */
    boolean createSketches(LimitSketches sketches, long nowMicros) {
        for (int i = 0; i < limits.length; i++) {
            if (limits[i].isNew() && !sketches.create(limits[i].key(), limit(i), nowMicros)) {
                return false;
            }
        }
        return true;
    }

    /** Spends like {@link #spend}, and from sketches for new keys. */
    void spendApproximately(StateTable table, long nowMicros) {
        for (int i = 0; i < limits.length; i++) {
            limits[i].spendApproximately(table, limit(i), charge.cost(), nowMicros);
        }
    }

    /** Keeps the stored states, without permits that are spent. */
    void keep(long nowMicros) {
        for (int i = 0; i < limits.length; i++) {
            limits[i].keep(limit(i), nowMicros);
        }
    }

    /** Returns the charge with its current states. */
    ChargeStates result() {
        if (limits.length == 1) {
            return new ChargeStates(charge, List.of(limits[0].state()));
        }
        LimitState[] states = new LimitState[limits.length];
        for (int i = 0; i < limits.length; i++) {
            states[i] = limits[i].state();
        }
        return new ChargeStates(charge, List.of(states));
    }

    private Limit limit(int index) {
        return charge.policy().limits().get(index);
    }
}
