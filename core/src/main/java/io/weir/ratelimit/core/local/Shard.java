// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.LimitState;
import java.util.Comparator;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A part of the keys with one lock. The caller of each method but {@link #find} holds the lock. */
final class Shard {
    final ReentrantLock lock = new ReentrantLock();
    private final Map<StateKey, StoredState> states = new ConcurrentHashMap<>();

    /** The states by {@link StoredState#dueMicros}. A charge only delays that instant, so it is corrected at the head of the queue. */
    private final PriorityQueue<StoredState> byDue =
            new PriorityQueue<>(Comparator.comparingLong((StoredState state) -> state.dueMicros));

    private final StateTable table;

    Shard(StateTable table) {
        this.table = table;
    }

    @Nullable
    StoredState find(StateKey key) {
        return states.get(key);
    }

    /** Adds a state and returns the instant from which it will equal an untouched one. */
    long add(StoredState state, LimitState first, long nowMicros) {
        long due = state.resetInstantMicros(first, nowMicros);
        state.dueMicros = due;
        byDue.add(state);
        states.put(state.key, state);
        return due;
    }

    /** Moves the state of a key, so that no call that has found it before can replace it. */
    void renew(StateKey key) {
        StoredState state = states.get(key);
        if (state != null) {
            StoredState moved = new StoredState(key, state.limit, state.take(), state.exactFromMicros);
            moved.dueMicros = state.dueMicros;
            byDue.remove(state);
            byDue.add(moved);
            states.put(key, moved);
            state.drop();
        }
    }

    /** Reorders a state after a refund. Returns true if the state equals an untouched one and was removed. */
    boolean removeOrReorder(StoredState state, long nowMicros) {
        byDue.remove(state);
        return removeOrQueue(state, nowMicros);
    }

    /** Examines due states up to a number, removes those that equal an untouched one, and returns the number of removed states. */
    int removeUntouched(long nowMicros, int examined) {
        int removed = 0;
        for (int i = 0; i < examined && nextDueMicros() <= nowMicros; i++) {
            if (removeOrQueue(byDue.remove(), nowMicros)) {
                removed++;
            }
        }
        return removed;
    }

    /** Makes all states due. The order of the queue remains. */
    void makeDue(long nowMicros) {
        for (StoredState state : byDue) {
            state.dueMicros = Math.min(state.dueMicros, nowMicros);
        }
    }

    private boolean removeOrQueue(StoredState state, long nowMicros) {
        LimitState current = table.afterSteps(state.take());
        // A call without a lock can have charged it a moment later.
        if (current.isAfter(nowMicros + StateTable.CLOCK_STEP_MICROS)) {
            current = current.asOf(state.limit, nowMicros);
        }
        state.dueMicros = state.resetInstantMicros(current, nowMicros);
        if (state.dueMicros <= nowMicros) {
            states.remove(state.key);
            state.drop();
            return true;
        }
        state.put(current);
        byDue.add(state);
        return false;
    }

    /** Returns an instant before which no state of this shard equals an untouched one. */
    long nextDueMicros() {
        StoredState first = byDue.peek();
        return first == null ? Long.MAX_VALUE : first.dueMicros;
    }
}
