// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.local;

import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A part of the keys under one lock, which its user holds while calling any method. */
final class Shard {

    /** One limit of one identity. */
    record StateKey(String identity, String tail) implements Comparable<StateKey> {
        @Override
        public int hashCode() {
            return 31 * identity.hashCode() + tail.hashCode();
        }

        /** Lets a map with many equal hashes, which a client can bring about, stay fast. */
        @Override
        public int compareTo(StateKey other) {
            int byIdentity = identity.compareTo(other.identity);
            return byIdentity != 0 ? byIdentity : tail.compareTo(other.tail);
        }
    }

    /** The state of a key. */
    static final class KeptState {
        final StateKey key;
        Limit limit;
        LimitState state;
        private long dueMicros;

        KeptState(StateKey key, Limit limit, LimitState state) {
            this.key = key;
            this.limit = limit;
            this.state = state;
        }

        private long resetInstant(long now) {
            return now + state.at(limit, now).resetMicros(limit, now);
        }
    }

    final ReentrantLock lock = new ReentrantLock();
    private final Map<StateKey, KeptState> entries = new HashMap<>();

    /** By an instant before which each key still counts. Spending only moves that instant away, so it is put right when met. */
    private final PriorityQueue<KeptState> byDue =
            new PriorityQueue<>(Comparator.comparingLong((KeptState e) -> e.dueMicros));

    @Nullable
    KeptState find(StateKey key) {
        return entries.get(key);
    }

    /** Adds a key and answers when it will equal an untouched one. */
    long add(KeptState entry, long now) {
        entries.put(entry.key, entry);
        entry.dueMicros = entry.resetInstant(now);
        byDue.add(entry);
        return entry.dueMicros;
    }

    /** Puts a key whose state was given back in its new place, or drops it when nothing is left of it. */
    boolean droppedAfterGivingBack(KeptState entry, long now) {
        byDue.remove(entry);
        entry.dueMicros = entry.resetInstant(now);
        if (entry.dueMicros <= now) {
            entries.remove(entry.key);
            return true;
        }
        byDue.add(entry);
        return false;
    }

    /** Drops every key that equals an untouched one. */
    int dropUntouched(long now) {
        int dropped = 0;
        while (nextDueMicros() <= now) {
            KeptState entry = byDue.remove();
            entry.dueMicros = entry.resetInstant(now);
            if (entry.dueMicros <= now) {
                entries.remove(entry.key);
                dropped++;
            } else {
                byDue.add(entry);
            }
        }
        return dropped;
    }

    /** The instant before which no key of this shard can equal an untouched one. */
    long nextDueMicros() {
        KeptState first = byDue.peek();
        return first == null ? Long.MAX_VALUE : first.dueMicros;
    }
}
