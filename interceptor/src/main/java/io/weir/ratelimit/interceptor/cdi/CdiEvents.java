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
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Fires events at those observers that the application has; where it has none, nothing is fired. */
final class CdiEvents {
    private static final RateLimitRejected ANY_REJECTION = new RateLimitRejected(
            "",
            "",
            "",
            1,
            new Decision.Rejected(List.of(new Quota("", "", 0, Duration.ofSeconds(1), 0, true, 0, 0, 0))));

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
        return Optional.of(fired -> {
            if (later) {
                event.fireAsync(fired);
            }
            if (now) {
                event.fire(fired);
            }
        });
    }
}
