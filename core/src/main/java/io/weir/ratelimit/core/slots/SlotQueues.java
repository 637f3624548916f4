// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.slots;

import io.weir.ratelimit.core.policy.Overrides.Subject;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The calls of this instance that wait for a slot, in the order of their arrival: one queue per policy and key. The first call of a queue
 * asks the backend again at intervals, and at once when this instance releases a slot of the key. {@link WaitBulkhead} bounds the number of
 * calls. No monitor is held outside of this class.
 */
public final class SlotQueues {
    public static final class Place {
        private final Subject key;

        /** Completes when the call should ask the backend. Guarded by the queues. */
        private CompletableFuture<Void> signal = new CompletableFuture<>();

        private Place(Subject key) {
            this.key = key;
        }

        /** Tests whether the place is in the queue of a key. */
        public boolean isFor(Subject other) {
            return key.equals(other);
        }
    }

    private final Map<Subject, ArrayDeque<Place>> queues = new HashMap<>();
    private volatile boolean empty = true;

    /** Returns whether calls wait for the slots of a key. */
    public boolean isWaitedFor(Subject key) {
        return !empty && contains(key);
    }

    private synchronized boolean contains(Subject key) {
        return queues.containsKey(key);
    }

    public synchronized Place enter(Subject key) {
        Place place = new Place(key);
        queues.computeIfAbsent(key, same -> new ArrayDeque<>()).add(place);
        empty = false;
        return place;
    }

    /**
     * Returns whether a call is the first one of its queue. A signal from before has no effect on the call any longer, since the call looks
     * now; one that comes later ends its next wait.
     */
    public synchronized boolean isFirst(Place place) {
        place.signal = new CompletableFuture<>();
        ArrayDeque<Place> queue = queues.get(place.key);
        return queue != null && queue.peek() == place;
    }

    /** Returns a future that completes when the call should ask the backend: a slot was released, or it has become the first one. */
    public synchronized CompletableFuture<Void> signal(Place place) {
        return place.signal;
    }

    /** Leaves the queue, and wakes the next call. */
    public void leave(Place place) {
        complete(removed(place));
    }

    private synchronized @Nullable CompletableFuture<Void> removed(Place place) {
        ArrayDeque<Place> queue = queues.get(place.key);
        if (queue == null) {
            return null;
        }
        boolean wasFirst = queue.peek() == place;
        queue.remove(place);
        if (queue.isEmpty()) {
            queues.remove(place.key);
            empty = queues.isEmpty();
            return null;
        }
        return wasFirst ? queue.getFirst().signal : null;
    }

    /** Wakes the first call that waits for the slots of a key. */
    public void released(Subject key) {
        if (!empty) {
            complete(first(key));
        }
    }

    private synchronized @Nullable CompletableFuture<Void> first(Subject key) {
        ArrayDeque<Place> queue = queues.get(key);
        return queue == null ? null : queue.getFirst().signal;
    }

    /** Completes a signal without the monitor, because its dependents call the backend. */
    private static void complete(@Nullable CompletableFuture<Void> signal) {
        if (signal != null) {
            signal.complete(null);
        }
    }
}
