// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.cdi;

import static io.weir.ratelimit.interceptor.message.InterceptorMessages.MESSAGES;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.RateLimitRejected;
import jakarta.enterprise.event.Event;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.EventContext;
import jakarta.enterprise.inject.spi.EventMetadata;
import jakarta.enterprise.inject.spi.InjectionPoint;
import jakarta.enterprise.inject.spi.ObserverMethod;
import java.lang.annotation.Annotation;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The CDI events of this library. An event without observers is not fired. */
record CdiEvents(BeanManager beans) {
    /** The number of pending events of asynchronous observers. It bounds the threads and memory that rejected clients use. */
    static final int MAX_PENDING = 256;

    /** The number of pending events of used shares. A client that selects the key causes one per key, limit and period. */
    private static final int MAX_PENDING_THRESHOLDS = 10_000;

    /** One event of each type, with which observers are found. */
    private static final List<Object> EXAMPLES = List.of(
            new RateLimitRejected(
                    "",
                    "",
                    "",
                    1,
                    new Decision.Rejected(List.of(new ChargeResult(
                            "",
                            false,
                            List.of(Quota.builder("", "")
                                    .rejectedFor(Duration.ZERO)
                                    .build()))))),
            new QuotaThresholdReached(
                    "", "", 1, "", Identity.GLOBAL, Quota.builder("", "").build()),
            new PenaltyImposed("", "", "", Duration.ofSeconds(1), 1),
            new BackendStateChanged("", true, ""));

    /**
     * Returns consumers that notify the observers of a type of events. Each observer of used shares has its own consumer, because an
     * exception of one observer must not keep the event from the others.
     */
    <E> List<Consumer<E>> observers(Class<E> type) {
        E example = EXAMPLES.stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElseThrow();
        Set<ObserverMethod<? super E>> observers = beans.resolveObserverMethods(example);
        Event<E> event = beans.getEvent().select(type);
        return type == QuotaThresholdReached.class ? each(observers, event) : together(observers, event);
    }

    private static <E> List<Consumer<E>> each(Set<ObserverMethod<? super E>> observers, Event<E> event) {
        List<Consumer<E>> consumers = new ArrayList<>();
        for (ObserverMethod<? super E> observer : observers) {
            if (!observer.isAsync()) {
                consumers.add(fired -> notify(observer, fired));
            }
        }
        if (observers.stream().anyMatch(ObserverMethod::isAsync)) {
            consumers.add(new AsyncFiring<>(event, MAX_PENDING_THRESHOLDS));
        }
        return consumers;
    }

    private static <T> void notify(ObserverMethod<T> observer, T event) {
        observer.notify(new ObservedEvent<>(event));
    }

    /** The context of an event for one observer. */
    private record ObservedEvent<T>(T getEvent) implements EventContext<T>, EventMetadata {
        @Override
        public EventMetadata getMetadata() {
            return this;
        }

        @Override
        public Set<Annotation> getQualifiers() {
            return Set.of(Any.Literal.INSTANCE);
        }

        @Override
        public @Nullable InjectionPoint getInjectionPoint() {
            return null;
        }

        @Override
        public Type getType() {
            return getEvent.getClass();
        }
    }

    private static <E> List<Consumer<E>> together(Set<ObserverMethod<? super E>> observers, Event<E> event) {
        if (observers.isEmpty()) {
            return List.of();
        }
        boolean asynchronous = observers.stream().anyMatch(ObserverMethod::isAsync);
        boolean synchronous = !observers.stream().allMatch(ObserverMethod::isAsync);
        Consumer<E> firesAsync = asynchronous ? new AsyncFiring<>(event, MAX_PENDING) : fired -> {};
        return List.of(fired -> {
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
        private final int maxPending;
        private final AtomicInteger pending = new AtomicInteger();
        private final AtomicBoolean dropped = new AtomicBoolean();
        private final AtomicBoolean failed = new AtomicBoolean();

        private AsyncFiring(Event<E> event, int maxPending) {
            this.event = event;
            this.maxPending = maxPending;
        }

        @Override
        public void accept(E fired) {
            if (pending.incrementAndGet() > maxPending) {
                pending.decrementAndGet();
                if (dropped.compareAndSet(false, true)) {
                    MESSAGES.log("WEIR-308", fired.getClass().getSimpleName(), maxPending);
                }
                return;
            }
            try {
                event.fireAsync(fired).whenComplete((completed, failure) -> {
                    pending.decrementAndGet();
                    if (failure != null && failed.compareAndSet(false, true)) {
                        MESSAGES.log(
                                failure, "WEIR-303.observer", fired.getClass().getSimpleName());
                    }
                });
            } catch (RuntimeException | Error e) {
                pending.decrementAndGet();
                throw e;
            }
        }
    }
}
