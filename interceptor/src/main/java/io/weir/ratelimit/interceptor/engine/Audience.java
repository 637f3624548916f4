// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

/**
 * Those who want to hear of something. What one of them throws is said once and keeps nothing from the others or the call. What
 * happens on a thread while one of them hears is not told to any of them: a listener that asks for a decision would hear of that
 * one too, without end.
 */
final class Audience<L> {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final List<Listener<L>> listeners;
    private final ThreadLocal<Boolean> telling = new ThreadLocal<>();

    private record Listener<L>(L listener, AtomicBoolean failed) {}

    Audience(List<L> listeners) {
        this.listeners = listeners.stream()
                .map(listener -> new Listener<>(listener, new AtomicBoolean()))
                .toList();
    }

    boolean isEmpty() {
        return listeners.isEmpty();
    }

    <E> void tell(BiConsumer<L, E> how, E event) {
        if (listeners.isEmpty() || telling.get() != null) {
            return;
        }
        telling.set(true);
        try {
            for (Listener<L> each : listeners) {
                tell(each, how, event);
            }
        } finally {
            telling.remove();
        }
    }

    private static <L, E> void tell(Listener<L> each, BiConsumer<L, E> how, E event) {
        try {
            how.accept(each.listener, event);
        } catch (OutOfMemoryError | InternalError e) {
            throw e;
        } catch (Throwable e) {
            if (each.failed.compareAndSet(false, true)) {
                LOG.log(
                        Level.WARNING,
                        "WEIR-303 the listener " + each.listener.getClass().getName()
                                + " failed, which changes nothing; said once",
                        e);
            }
        }
    }
}
