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
import io.weir.ratelimit.core.instance.ApplicationEvents;
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
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The CDI events of this library. An event without observers is not fired. */
final class CdiEvents implements ApplicationEvents {
    /** The number of pending events of asynchronous observers. It bounds the threads and memory that rejected clients use. */
    static final int MAX_PENDING = 256;

    /**
     * The number of pending events of used shares. A client causes one per key, limit and period, so it can cause many if it selects the
     * key.
     */
    private static final int MAX_PENDING_THRESHOLDS = 10_000;

    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    private static final RateLimitRejected ANY_REJECTION = new RateLimitRejected(
            "",
            "",
            "",
            1,
            new Decision.Rejected(List.of(new ChargeResult(
                    "",
                    false,
                    List.of(Quota.builder("", "").rejectedFor(Duration.ZERO).build())))));

    private static final QuotaThresholdReached ANY_THRESHOLD = new QuotaThresholdReached(
            "", "", 1, "", Identity.GLOBAL, Quota.builder("", "").build());

    private static final PenaltyImposed ANY_PENALTY = new PenaltyImposed("", "", "", Duration.ofSeconds(1), 1);

    private final BeanManager beans;

    CdiEvents(BeanManager beans) {
        this.beans = beans;
    }

    /** Returns a consumer that fires rejections, if the application observes them. */
    @Override
    public List<Consumer<RateLimitRejected>> rejectionObservers() {
        return observer(ANY_REJECTION, RateLimitRejected.class).stream().toList();
    }

    /**
     * Returns consumers that notify the observers of used shares. Each observer has its own consumer, because an exception of one observer
     * must not keep the event from the others.
     */
    @Override
    public List<Consumer<QuotaThresholdReached>> thresholdObservers() {
        Set<ObserverMethod<? super QuotaThresholdReached>> observers = beans.resolveObserverMethods(ANY_THRESHOLD);
        List<Consumer<QuotaThresholdReached>> consumers = new ArrayList<>();
        for (ObserverMethod<? super QuotaThresholdReached> observer : observers) {
            if (!observer.isAsync()) {
                consumers.add(new ThresholdObserver(observer));
            }
        }
        if (observers.stream().anyMatch(ObserverMethod::isAsync)) {
            consumers.add(
                    new AsyncFiring<>(beans.getEvent().select(QuotaThresholdReached.class), MAX_PENDING_THRESHOLDS));
        }
        return consumers;
    }

    /** A synchronous observer, which is notified without the others. */
    private record ThresholdObserver(ObserverMethod<? super QuotaThresholdReached> observer)
            implements Consumer<QuotaThresholdReached> {
        @Override
        public void accept(QuotaThresholdReached reached) {
            notify(observer, reached);
        }

        private static <T> void notify(ObserverMethod<T> observer, T event) {
            observer.notify(new ThresholdContext<>(event));
        }
    }

    /** The context of an event for one observer. */
    private record ThresholdContext<T>(T getEvent) implements EventContext<T>, EventMetadata {
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
            return QuotaThresholdReached.class;
        }
    }

    /** Returns a consumer that fires penalties, if the application observes them. */
    @Override
    public List<Consumer<PenaltyImposed>> penaltyObservers() {
        return observer(ANY_PENALTY, PenaltyImposed.class).stream().toList();
    }

    /** Returns a consumer that fires changes of the backend, if the application observes them. */
    @Override
    public List<Consumer<BackendStateChanged>> backendObservers() {
        return observer(new BackendStateChanged("", true, ""), BackendStateChanged.class).stream()
                .toList();
    }

    private <E> Optional<Consumer<E>> observer(E example, Class<E> type) {
        Set<ObserverMethod<? super E>> observers = beans.resolveObserverMethods(example);
        boolean asynchronous = observers.stream().anyMatch(ObserverMethod::isAsync);
        boolean synchronous = !observers.stream().allMatch(ObserverMethod::isAsync);
        if (!synchronous && !asynchronous) {
            return Optional.empty();
        }
        Event<E> event = beans.getEvent().select(type);
        Consumer<E> firesAsync = asynchronous ? new AsyncFiring<>(event, MAX_PENDING) : fired -> {};
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
                    MESSAGES.log(LOG, "WEIR-308", fired.getClass().getSimpleName(), maxPending);
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
