// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

import io.weir.ratelimit.spi.DecisionEvent;

/** Marks a request's span later than at its decision, for servers that begin the span after the filters that decide. */
public interface SpanMarks {
    /** Where nothing is marked. */
    SpanMarks NONE = new SpanMarks() {
        @Override
        public boolean isSpanHere() {
            return true;
        }

        @Override
        public void mark(DecisionEvent event) {
            // there is no span
        }
    };

    /**
     * Whether a decision that is taken now finds the request's span.
     *
     * @return true if there is a span, recorded or not
     */
    boolean isSpanHere();

    /**
     * Marks the current span.
     *
     * @param event what was decided
     */
    void mark(DecisionEvent event);
}
