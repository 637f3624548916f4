// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.engine;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

/** Those who want to hear of something. What one of them throws is said once and keeps nothing from the others or the call. */
final class Audience<L> {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private final List<Listener<L>> listeners;

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
        for (Listener<L> each : listeners) {
            try {
                how.accept(each.listener, event);
            } catch (VirtualMachineError e) {
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
}
