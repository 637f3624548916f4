// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimitRejected;
import io.weir.ratelimit.core.engine.BackendStateListener;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.ObserverMethod;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The CDI events of this library. An event without observers is not fired. */
final class CdiEvents {
    /** The number of pending events of asynchronous observers. It bounds the threads and memory that rejected clients use. */
    static final int MAX_PENDING = 256;

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

    /** Returns a consumer that fires rejections, if the application observes them. */
    List<Consumer<RateLimitRejected>> rejectionObservers() {
        return observer(ANY_REJECTION, RateLimitRejected.class).stream().toList();
    }

    /** Returns a listener that fires changes of the backend, if the application observes them. */
    List<BackendStateListener> backendObservers() {
        return observer(new BackendStateChanged("", true, ""), BackendStateChanged.class).stream()
                .<BackendStateListener>map(StateChanges::new)
                .toList();
    }

    private record StateChanges(Consumer<BackendStateChanged> observer) implements BackendStateListener {
        @Override
        public void onChange(BackendStateChanged change) {
            observer.accept(change);
        }
    }

    private <E> Optional<Consumer<E>> observer(E example, Class<E> type) {
        Set<ObserverMethod<? super E>> observers = beans.resolveObserverMethods(example);
        boolean asynchronous = observers.stream().anyMatch(ObserverMethod::isAsync);
        boolean synchronous = !observers.stream().allMatch(ObserverMethod::isAsync);
        if (!synchronous && !asynchronous) {
            return Optional.empty();
        }
        Event<E> event = beans.getEvent().select(type);
        Consumer<E> firesAsync = asynchronous ? new AsyncFiring<>(event) : fired -> {};
        return Optional.of(fired -> {
            try {
                if (synchronous) {
                    event.fire(fired);
                }
            } finally {
                firesAsync.accept(fired);
            }
        });
    }

    /** Fires events asynchronously, and drops them while too many are pending. */
    private static final class AsyncFiring<E> implements Consumer<E> {
        private final Event<E> event;
        private final AtomicInteger pending = new AtomicInteger();
        private final AtomicBoolean dropped = new AtomicBoolean();
        private final AtomicBoolean failed = new AtomicBoolean();

        private AsyncFiring(Event<E> event) {
            this.event = event;
        }

        @Override
        public void accept(E fired) {
            if (pending.incrementAndGet() > MAX_PENDING) {
                pending.decrementAndGet();
                if (dropped.compareAndSet(false, true)) {
                    MESSAGES.log(LOG, "WEIR-308", fired.getClass().getSimpleName(), MAX_PENDING);
                }
                return;
            }
            boolean submitted = false;
            try {
                event.fireAsync(fired).whenComplete((completed, failure) -> {
                    pending.decrementAndGet();
                    if (failure != null && failed.compareAndSet(false, true)) {
                        MESSAGES.log(
                                LOG,
                                failure,
                                "WEIR-303.observer",
                                fired.getClass().getSimpleName());
                    }
                });
                submitted = true;
            } finally {
                if (!submitted) {
                    pending.decrementAndGet();
                }
            }
        }
    }
}
