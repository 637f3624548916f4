// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.List;

/** A listener that needs each decision, but no event for it. */
public interface DirectListener extends DecisionListener {
    /** The duration of a decision that was not measured. */
    long NOT_MEASURED = -1;

    /**
     * Tests whether this listener needs the duration of a decision. It is called once for each decision, in most cases before it is
     * taken, and must not throw an exception.
     *
     * @return false if the duration has no effect
     */
    boolean needsDuration();

    /**
     * Receives a decision.
     *
     * @param endpoint the endpoint of the call
     * @param charges the charges of the call
     * @param decision the decision
     * @param durationNanos the time that the backend took, in nanoseconds; {@link #NOT_MEASURED} if no listener needs it
     */
    void onDecision(String endpoint, List<Charge> charges, Decision decision, long durationNanos);

    @Override
    default void onDecision(DecisionEvent event) {
        onDecision(event.endpoint(), event.charges(), event.decision(), event.durationNanos());
    }
}
