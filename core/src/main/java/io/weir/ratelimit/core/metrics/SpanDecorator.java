// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;

/** A decorator that sets the attributes of a span after the decision, for servers that start the span after the filters. */
public interface SpanDecorator extends DecisionListener {
    /** A decorator without telemetry, which sets no attributes. */
    SpanDecorator NONE = new SpanDecorator() {
        @Override
        public boolean hasCurrentSpan() {
            return true;
        }

        @Override
        public void decorate(DecisionEvent event) {
            // There is no span.
        }

        @Override
        public void onDecision(DecisionEvent event) {
            // There is no span.
        }
    };

    /**
     * Returns whether the calling thread has a span.
     *
     * @return true if there is a span, recorded or not
     */
    boolean hasCurrentSpan();

    /** Sets the attributes of the current span. */
    void decorate(DecisionEvent event);
}
