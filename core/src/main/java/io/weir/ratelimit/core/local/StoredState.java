// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Limit;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The state of a key in a {@link Shard}. A call with one limit replaces the state without a lock. A call that holds the lock of the shard
 * takes the state, so that no other call can replace it meanwhile, and puts it back. A subclass of the atomic reference avoids an
 * indirection for each call.
 */
@SuppressWarnings("serial") // it is never serialized
final class StoredState extends AtomicReference<@Nullable LimitState> {
    final StateKey key;

    /**
     * From when the state is exact, in microseconds; 0 if it always is. It is too high before if it began with the counts of a sketch. A
     * bucket can keep a part of them until it is full.
     */
    final long exactFromMicros;

    /** The limit of the latest charge, also of a rejected one. The lock of the shard guards its changes. */
    Limit limit;

    /** An instant before which the state differs from an untouched one, in microseconds. The lock of the shard guards it. */
    long dueMicros;

    /** The state that a call has taken. The lock of the shard guards it. */
    private @Nullable LimitState taken;

    StoredState(StateKey key, Limit limit, LimitState state, long exactFromMicros) {
        super(state);
        this.key = key;
        this.limit = limit;
        this.exactFromMicros = exactFromMicros;
    }

    /**
     * Takes the state until {@link #put}. A call that takes it twice has the same state twice. The caller holds the lock of the shard.
     */
    LimitState take() {
        LimitState found = getAndSet(null);
        if (found != null) {
            taken = found;
        }
        return Objects.requireNonNull(taken);
    }

    /** Leaves the key without a state, so that a call that has found the key before searches for it again. */
    void drop() {
        taken = null;
    }

    /** Puts a state in the place of the one that was taken. */
    void put(LimitState state) {
        taken = null;
        set(state);
    }

    /** Returns the instant from which a state equals an untouched one, in microseconds. */
    long resetInstantMicros(LimitState state, long nowMicros) {
        return nowMicros + state.asOf(limit, nowMicros).resetAfterMicros(limit, nowMicros);
    }
}
