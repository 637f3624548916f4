// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Limit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One limit of a {@link PendingCharge}: its key, its stored state, and its state at the instant of the acquire. The stored state is taken
 * before that instant is read, and is released at the end.
 */
final class PendingLimit {
    private final StateKey key;
    private @Nullable StoredState stored;

    /** The state to put back. */
    private @Nullable LimitState next;

    private @Nullable LimitState state;

    PendingLimit(StateKey key) {
        this.key = key;
    }

    StateKey key() {
        return key;
    }

    /** Takes the stored state. An attempt without a place for a new key is repeated, and the key can be removed before. */
    void take(StateTable table) {
        StoredState found = table.find(key);
        stored = found;
        next = found == null ? null : found.take();
    }

    /** Puts the stored state back, with the permits that were spent. */
    void release() {
        if (stored != null) {
            stored.put(Objects.requireNonNull(next));
        }
    }

    /** Reads the state of the key at an instant and returns it. The key is blocked until an end, 0 if it is not. */
    LimitState read(StateTable table, Limit limit, long blockEndMicros, long nowMicros) {
        LimitState before = next == null ? table.stateOfNew(key, limit, nowMicros) : next;
        LimitState read =
                LimitState.blocked(table.afterSteps(before).asOf(limit, nowMicros), blockEndMicros, nowMicros);
        state = read;
        return read;
    }

    /** Returns whether no state was stored when this limit was read. */
    boolean isNew() {
        return stored == null;
    }

    /** Returns the state that was read, or the state after {@link #spend}. */
    LimitState state() {
        return Objects.requireNonNull(state);
    }

    /** Spends a cost from the state that was read, and stores the result. The place of a new key is reserved. */
    void spend(StateTable table, Limit limit, long cost, long nowMicros) {
        LimitState before = state();
        LimitState spent = before.spend(limit, cost, nowMicros);
        state = LimitState.forReceipt(spent);
        if (stored == null) {
            long approximateMicros = before.resetAfterMicros(limit, nowMicros);
            table.add(key, limit, spent, approximateMicros == 0 ? 0 : nowMicros + approximateMicros, nowMicros);
        } else {
            stored.limit = limit;
            next = spent;
        }
    }

    /** Spends a cost like {@link #spend}, and a cost of a new key from its sketch, which exists. */
    void spendApproximately(StateTable table, Limit limit, long cost, long nowMicros) {
        if (stored != null) {
            spend(table, limit, cost, nowMicros);
        } else {
            table.sketches().spend(key, limit, cost, nowMicros);
            state = state().spend(limit, cost, nowMicros);
        }
    }

    /**
     * Keeps the stored state. Stores the state that was read if the stored state is later, as {@link LimitState#isAfter} requires. The
     * state of a bucket lasts longer under a lowered limit, and is not removed before.
     */
    void keep(Limit limit, long nowMicros) {
        if (stored == null || next == null) {
            return;
        }
        LimitState read = LimitState.unblocked(state());
        if (next.isAfter(nowMicros)) {
            next = read;
        }
        if (!limit.equals(stored.limit)
                && nowMicros + read.resetAfterMicros(limit, nowMicros) > stored.resetInstantMicros(next, nowMicros)) {
            stored.limit = limit;
        }
    }
}
