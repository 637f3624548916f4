// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.instance;

import io.weir.ratelimit.BackendStateChanged;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.QuotaThresholdReached;
import io.weir.ratelimit.RateLimitRejected;
import java.util.List;
import java.util.function.Consumer;

/** The observers of events in the application. Each one is told of an event by itself; without observers, no event is created. */
public interface ApplicationEvents {
    /** An application that observes no event. */
    ApplicationEvents NONE = new ApplicationEvents() {};

    /**
     * Returns the observers of rejections.
     *
     * @return the observers, which do not block the thread for long
     */
    default List<Consumer<RateLimitRejected>> rejectionObservers() {
        return List.of();
    }

    /** Returns the observers of used shares. An exception of one observer does not keep the event from the others. */
    default List<Consumer<QuotaThresholdReached>> thresholdObservers() {
        return List.of();
    }

    /** Returns the observers of penalties. */
    default List<Consumer<PenaltyImposed>> penaltyObservers() {
        return List.of();
    }

    /** Returns the observers of changes of the backend. */
    default List<Consumer<BackendStateChanged>> backendObservers() {
        return List.of();
    }
}
