// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.BiPredicate;

/**
 * Listeners whose failures affect neither the call nor the other listeners. The first failure of a listener is logged.
 *
 * <p>Events on a thread that is notifying a listener are dropped: a listener that requests a decision would be notified of that
 * decision too, without end.
 */
public final class GuardedListeners<L> {
    private final List<Listener<L>> listeners;

    /** Whether the thread is notifying. It is never removed; an array keeps no class of the application reachable. */
    private final ThreadLocal<boolean[]> notifying = ThreadLocal.withInitial(() -> new boolean[1]);

    private record Listener<L>(L listener, AtomicBoolean failed) {}

    public GuardedListeners(List<L> listeners) {
        this.listeners = listeners.stream()
                .map(listener -> new Listener<>(listener, new AtomicBoolean()))
                .toList();
    }

    boolean isEmpty() {
        return listeners.isEmpty();
    }

    /** Returns whether a listener accepts an event, also if that is unknown: the failure is logged when the listener is notified. */
    public <E> boolean anyAccepts(BiPredicate<L, E> test, E event) {
        try {
            for (int i = 0; i < listeners.size(); i++) {
                if (test.test(listeners.get(i).listener, event)) {
                    return true;
                }
            }
            return false;
        } catch (RuntimeException | LinkageError e) {
            return true;
        }
    }

    public <E> void notifyEach(BiConsumer<L, E> method, E event) {
        if (listeners.isEmpty()) {
            return;
        }
        boolean[] nested = notifying.get();
        if (nested[0]) {
            return;
        }
        nested[0] = true;
        try {
            for (int i = 0; i < listeners.size(); i++) {
                notify(listeners.get(i), method, event);
            }
        } finally {
            nested[0] = false;
        }
    }

    private static <L, E> void notify(Listener<L> each, BiConsumer<L, E> method, E event) {
        try {
            method.accept(each.listener, event);
        } catch (OutOfMemoryError | InternalError e) {
            throw e;
        } catch (Throwable e) {
            if (each.failed.compareAndSet(false, true)) {
                MESSAGES.log(e, "WEIR-303", each.listener.getClass().getName());
            }
        }
    }
}
