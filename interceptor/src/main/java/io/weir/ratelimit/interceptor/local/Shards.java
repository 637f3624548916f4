// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.local;

import io.weir.ratelimit.interceptor.local.Shard.KeptState;
import io.weir.ratelimit.interceptor.local.Shard.StateKey;
import io.weir.ratelimit.spi.TimeSource;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** All keys, spread over shards, and the bound on their number. */
final class Shards {
    /** As many as a long has bits, so that a set of shards is a mask. */
    private static final int COUNT = Long.SIZE;

    private final int maxKeys;
    private final AtomicInteger keys = new AtomicInteger();
    private final Shard[] shards = new Shard[COUNT];

    /** Before this instant no key equals an untouched one, so that a full store need not search for one. */
    private final AtomicLong nextDueMicros = new AtomicLong();

    /** Held by who searches a full store for untouched keys; never while holding a shard's lock. */
    private final ReentrantLock search = new ReentrantLock();

    Shards(int maxKeys) {
        this.maxKeys = maxKeys;
        for (int i = 0; i < COUNT; i++) {
            shards[i] = new Shard();
        }
    }

    int maxKeys() {
        return maxKeys;
    }

    int size() {
        return keys.get();
    }

    /** Locks the shards of some keys, in ascending order, and answers which as a mask. */
    long lock(StateKey[] needed) {
        long mask = 0;
        for (StateKey key : needed) {
            mask |= 1L << index(key);
        }
        for (long left = mask; left != 0; left &= left - 1) {
            shards[Long.numberOfTrailingZeros(left)].lock.lock();
        }
        return mask;
    }

    void unlock(long mask) {
        for (long left = mask; left != 0; left &= left - 1) {
            shards[Long.numberOfTrailingZeros(left)].lock.unlock();
        }
    }

    private static int index(StateKey key) {
        int hash = key.hashCode() * 0x9E3779B9;
        return hash >>> (Integer.SIZE - 6);
    }

    /** The state of a key whose shard is locked. */
    @Nullable
    KeptState find(StateKey key) {
        return shards[index(key)].find(key);
    }

    /** Adds a key whose shard is locked and whose place is reserved. */
    void add(KeptState state, long now) {
        dueBy(shards[index(state.key)].add(state, now));
    }

    /** Puts a key whose state has become less in its new place, or drops it if nothing is left; its shard is locked. */
    void gaveBack(KeptState state, long now) {
        if (shards[index(state.key)].droppedAfterGivingBack(state, now)) {
            keys.decrementAndGet();
        }
        dueBy(now);
    }

    boolean reserve(int places) {
        int taken = keys.get();
        while (taken + places <= maxKeys) {
            if (keys.compareAndSet(taken, taken + places)) {
                return true;
            }
            taken = keys.get();
        }
        return false;
    }

    /** Makes room by dropping untouched keys; false if there are none. No shard is locked. */
    boolean dropUntouched(TimeSource time) {
        int before = keys.get();
        search.lock();
        try {
            long now = time.micros();
            int dropped = 0;
            if (now >= nextDueMicros.get()) {
                nextDueMicros.set(Long.MAX_VALUE);
                for (Shard shard : shards) {
                    dropped += dropUntouched(shard, now);
                }
            }
            return dropped > 0 || keys.get() < before;
        } finally {
            search.unlock();
        }
    }

    private int dropUntouched(Shard shard, long now) {
        shard.lock.lock();
        try {
            int dropped = shard.dropUntouched(now);
            keys.addAndGet(-dropped);
            dueBy(shard.nextDueMicros());
            return dropped;
        } finally {
            shard.lock.unlock();
        }
    }

    private void dueBy(long instant) {
        if (instant < nextDueMicros.get()) {
            nextDueMicros.accumulateAndGet(instant, Math::min);
        }
    }
}
