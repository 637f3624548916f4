// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.Identity;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/**
 * Pauses of one client that this instance knows, because calls can be decided without the shared backend. At most {@value #MAXIMUM} keys
 * are kept; a pause of another key is then not kept.
 */
final class LocalPauses {
    static final int MAXIMUM = 10_000;

    private static final long MICRO = 1_000;

    private final LongSupplier nanoTime;
    private final Map<Identity, Long> untilNanos = new ConcurrentHashMap<>();

    LocalPauses(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** Pauses a key. An earlier end does not shorten a pause. */
    void pause(Identity key, long micros) {
        long now = nanoTime.getAsLong();
        long until = now + micros * MICRO;
        if (untilNanos.size() >= MAXIMUM) {
            untilNanos.values().removeIf(end -> end - now <= 0);
        }
        if (untilNanos.size() < MAXIMUM) {
            untilNanos.merge(key, until, (one, other) -> one - other > 0 ? one : other);
        }
    }

    /** Returns the rest of a pause in microseconds, 0 if the key is not paused. */
    long restMicros(Identity key) {
        Long until = untilNanos.get(key);
        if (until == null) {
            return 0;
        }
        long rest = until - nanoTime.getAsLong();
        if (rest <= 0) {
            untilNanos.remove(key, until);
            return 0;
        }
        return (rest + MICRO - 1) / MICRO;
    }

    /**
     * Stores a pause elsewhere, and forgets it if the function, which gets the rest in microseconds, succeeds and no other call has
     * extended it meanwhile. Returns the rest in microseconds, 0 if the key is not paused.
     */
    long handOver(Identity key, LongPredicate store) {
        Long until = untilNanos.get(key);
        long rest = restMicros(key);
        if (until != null && rest > 0 && store.test(rest)) {
            untilNanos.remove(key, until);
        }
        return rest;
    }

    int size() {
        return untilNanos.size();
    }
}
