// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.SipHash;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.TimeSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The states of all keys, spread over shards with one lock each. The number of keys is bounded. */
final class StateTable {
    /** The number of bits of a long, so that a long can represent a set of shards. */
    private static final int SHARDS = Long.SIZE;

    private static final int SHARD_BITS = 6;

    /** The number of due states of a shard that a search examines. Without this bound, a search of a million due states takes 0.2 s. */
    private static final int EXAMINED_PER_SHARD = 64;

    /** The number of removed states after which a search ends. Most calls with a new key then find a place without a search. */
    private static final int ENOUGH_REMOVED = 256;

    /** A greater difference is a step of the clock. */
    static final long CLOCK_STEP_MICROS = TimeUnit.SECONDS.toMicros(1);

    private final int maxKeys;
    private final AtomicInteger keys = new AtomicInteger();
    private final Shard[] shards = new Shard[SHARDS];
    private final LimitSketches sketches;
    private final BlockedKeys blocks;

    /** Before this instant no state equals an untouched one, so a full table is not searched. */
    private final AtomicLong nextDueMicros = new AtomicLong();

    /** The latest instant by which a state was queued, to a second. If the clock steps back behind it, the queues are wrong. */
    private volatile long latestMicros;

    /** Held while a full table is searched for untouched keys. A thread that holds the lock of a shard never acquires it. */
    private final ReentrantLock search = new ReentrantLock();

    private final LongSupplier forwardMicros;

    /** Creates a table. The supplier returns by how much the clock has stepped forward so far, and is read after the time. */
    StateTable(int maxKeys, LongSupplier forwardMicros) {
        this.maxKeys = maxKeys;
        this.forwardMicros = forwardMicros;
        this.blocks = new BlockedKeys(maxKeys);
        this.sketches = new LimitSketches(maxKeys, SipHash.random());
        for (int i = 0; i < SHARDS; i++) {
            shards[i] = new Shard(this);
        }
    }

    /** Returns a state after the steps of the clock. */
    LimitState afterSteps(LimitState state) {
        return LimitState.afterSteps(state, forwardMicros);
    }

    int size() {
        return keys.get();
    }

    /** Returns the approximate states of keys that found no place. */
    LimitSketches sketches() {
        return sketches;
    }

    BlockedKeys blocks() {
        return blocks;
    }

    /** Returns the shard of a key as a set, in which each shard is one bit. */
    static long shardOf(StateKey key) {
        return 1L << index(key);
    }

    /** Locks a set of shards in ascending order, so that no two threads can deadlock. */
    void lock(long set) {
        for (long left = set; left != 0; left &= left - 1) {
            shards[Long.numberOfTrailingZeros(left)].lock.lock();
        }
    }

    void unlock(long set) {
        for (long left = set; left != 0; left &= left - 1) {
            shards[Long.numberOfTrailingZeros(left)].lock.unlock();
        }
    }

    /** Works while the shards of the keys of charges are locked. */
    <T> T locked(List<Charge> charges, Supplier<T> work) {
        long set = 0;
        for (Charge charge : charges) {
            for (int i = 0; i < charge.policy().limits().size(); i++) {
                set |= shardOf(StateKey.of(charge, i));
            }
        }
        lock(set);
        try {
            return work.get();
        } finally {
            unlock(set);
        }
    }

    /** Works as {@link #locked(List, Supplier)} does, without a result. */
    void locked(List<Charge> charges, Runnable work) {
        boolean unused = locked(charges, () -> {
            work.run();
            return true;
        });
    }

    private static int index(StateKey key) {
        int hash = key.hashCode() * 0x9E3779B9;
        return hash >>> (Integer.SIZE - SHARD_BITS);
    }

    /** Returns the state of a key, null if there is none. Unless the caller holds the lock of its shard, the key can be removed. */
    @Nullable
    StoredState find(StateKey key) {
        return shards[index(key)].find(key);
    }

    /** Returns the state of a key that is not stored. The caller holds the lock of its shard. */
    LimitState stateOfNew(StateKey key, Limit limit, long nowMicros) {
        return sketches.isEmpty() ? LimitState.untouched(limit, nowMicros) : sketches.read(key, limit, nowMicros);
    }

    /**
     * Tests whether the state of a key comes from a sketch, so that it can be too high. A key that finds a place keeps the permits of the
     * sketch until they have returned. The caller holds the lock of its shard.
     */
    boolean isApproximate(StateKey key, Limit limit, long nowMicros) {
        StoredState stored = find(key);
        return stored == null
                ? stateOfNew(key, limit, nowMicros).resetAfterMicros(limit, nowMicros) > 0
                : nowMicros < stored.exactFromMicros;
    }

    /**
     * Adds a state whose place is {@linkplain #reserve reserved}, and which is exact from an instant on; 0 if it always is. The caller holds
     * the lock of its shard.
     */
    void add(StateKey key, Limit limit, LimitState state, long exactFromMicros, long nowMicros) {
        noteTime(nowMicros);
        StoredState added = new StoredState(key, limit, state, exactFromMicros);
        updateNextDue(shards[index(key)].add(added, state, nowMicros));
    }

    /**
     * Reorders a state after a refund, or removes it if it equals an untouched one. Returns true if the state was removed; its place is
     * still to be {@linkplain #release released}. The caller holds the lock of its shard.
     */
    boolean refunded(StoredState state, long nowMicros) {
        noteTime(nowMicros);
        boolean removed = shards[index(state.key)].removeOrReorder(state, nowMicros);
        updateNextDue(nowMicros);
        return removed;
    }

    /** Makes each acquire without a lock that has read the state of a key start again. The caller holds the lock of its shard. */
    void renew(StateKey key) {
        shards[index(key)].renew(key);
    }

    /** Reserves places for new keys. Returns false, and reserves nothing, if the table has fewer free places. */
    boolean reserve(int places, long nowMicros) {
        int size = keys.get();
        while (size + places <= maxKeys) {
            if (keys.compareAndSet(size, size + places)) {
                if (!sketches.isEmpty()) {
                    sketches.removeIdle(nowMicros);
                }
                return true;
            }
            size = keys.get();
        }
        return false;
    }

    /** Releases the places of removed keys, all at once, so that {@link #size} never shows a part of a refund. */
    void release(int places) {
        keys.addAndGet(-places);
    }

    /**
     * Removes some of the untouched keys. Returns false if no place has become free: then no key is untouched, or the examined keys have
     * been charged again and the next search examines others. The caller holds the lock of no shard.
     */
    boolean removeUntouched(TimeSource time) {
        int before = keys.get();
        search.lock();
        try {
            long now = time.micros();
            boolean steppedBack = now < latestMicros - CLOCK_STEP_MICROS;
            if (steppedBack) {
                latestMicros = now;
            }
            noteTime(now);
            int removed = 0;
            if (steppedBack || now >= nextDueMicros.get()) {
                nextDueMicros.set(Long.MAX_VALUE);
                for (Shard shard : shards) {
                    int examined = removed < ENOUGH_REMOVED ? EXAMINED_PER_SHARD : 0;
                    removed += removeUntouched(shard, now, steppedBack ? Integer.MAX_VALUE : examined);
                }
            }
            return removed > 0 || keys.get() < before;
        } finally {
            search.unlock();
        }
    }

    private void noteTime(long nowMicros) {
        if (nowMicros > latestMicros + CLOCK_STEP_MICROS) {
            latestMicros = nowMicros;
        }
    }

    private int removeUntouched(Shard shard, long nowMicros, int examined) {
        shard.lock.lock();
        try {
            if (examined == Integer.MAX_VALUE) {
                shard.makeDue(nowMicros);
            }
            int removed = shard.removeUntouched(nowMicros, examined);
            release(removed);
            updateNextDue(shard.nextDueMicros());
            return removed;
        } finally {
            shard.lock.unlock();
        }
    }

    private void updateNextDue(long dueMicros) {
        if (dueMicros < nextDueMicros.get()) {
            nextDueMicros.accumulateAndGet(dueMicros, Math::min);
        }
    }
}
