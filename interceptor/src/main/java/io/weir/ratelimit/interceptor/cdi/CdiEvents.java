// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.interceptor.engine.StoreListener;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.ObserverMethod;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Fires events at those observers that the application has; where it has none, nothing is fired. */
final class CdiEvents {
    /** How many events asynchronous observers may be behind: refused clients must not fill the server's threads and memory. */
    static final int MOST_UNHEARD = 256;

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private static final RateLimitRejected ANY_REJECTION = new RateLimitRejected(
            "",
            "",
            "",
            1,
            new Decision.Rejected(List.of(new Quota("", "", 0, 0, Duration.ofSeconds(1), 0, true, 0, 0, 0))));

    private final BeanManager beans;

    CdiEvents(BeanManager beans) {
        this.beans = beans;
    }

    List<Consumer<RateLimitRejected>> ofRejections() {
        return observed(ANY_REJECTION, RateLimitRejected.class).stream().toList();
    }

    List<StoreListener> ofStore() {
        return observed(new BackendStateChanged("", true, ""), BackendStateChanged.class).stream()
                .<StoreListener>map(Changes::new)
                .toList();
    }

    private record Changes(Consumer<BackendStateChanged> observed) implements StoreListener {
        @Override
        public void onChange(BackendStateChanged change) {
            observed.accept(change);
        }
    }

    private <E> Optional<Consumer<E>> observed(E example, Class<E> type) {
        Set<ObserverMethod<? super E>> observers = beans.resolveObserverMethods(example);
        boolean later = observers.stream().anyMatch(ObserverMethod::isAsync);
        boolean now = !observers.stream().allMatch(ObserverMethod::isAsync);
        if (!now && !later) {
            return Optional.empty();
        }
        Event<E> event = beans.getEvent().select(type);
        Consumer<E> asynchronous = later ? new Later<>(event) : fired -> {};
        return Optional.of(fired -> {
            try {
                if (now) {
                    event.fire(fired);
                }
            } finally {
                asynchronous.accept(fired);
            }
        });
    }

    /** Fires at asynchronous observers as long as they keep up. */
    private static final class Later<E> implements Consumer<E> {
        private final Event<E> event;
        private final AtomicInteger unheard = new AtomicInteger();
        private final AtomicBoolean dropped = new AtomicBoolean();
        private final AtomicBoolean failed = new AtomicBoolean();

        private Later(Event<E> event) {
            this.event = event;
        }

        @Override
        public void accept(E fired) {
            if (unheard.incrementAndGet() > MOST_UNHEARD) {
                unheard.decrementAndGet();
                if (dropped.compareAndSet(false, true)) {
                    LOG.log(
                            Level.WARNING,
                            "WEIR-308 asynchronous observers of {0} do not keep up; events beyond {1} are dropped; said once",
                            fired.getClass().getSimpleName(),
                            MOST_UNHEARD);
                }
                return;
            }
            boolean underWay = false;
            try {
                event.fireAsync(fired).whenComplete((heard, failure) -> {
                    unheard.decrementAndGet();
                    if (failure != null && failed.compareAndSet(false, true)) {
                        LOG.log(
                                Level.WARNING,
                                "WEIR-303 an asynchronous observer of "
                                        + fired.getClass().getSimpleName()
                                        + " failed, which changes nothing; said once",
                                failure);
                    }
                });
                underWay = true;
            } finally {
                if (!underWay) {
                    unheard.decrementAndGet();
                }
            }
        }
    }
}
