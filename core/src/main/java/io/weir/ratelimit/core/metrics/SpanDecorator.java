// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import org.jspecify.annotations.Nullable;

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

    /**
     * What a span shows of a decision.
     *
     * @param storedKey the key that was charged, which the span shows masked
     * @param quota the quota that rejected the call, else the one closest to exhaustion; null if the decision has no quotas
     */
    record Attributes(
            String policy,
            String direction,
            boolean allowed,
            long cost,
            boolean degraded,
            String storedKey,
            @Nullable Quota quota) {
        public static Attributes of(DecisionEvent event) {
            DecisiveCharge decisive = DecisiveCharge.of(event);
            Decision decision = event.decision();
            return new Attributes(
                    decisive.charge().policy().policy(),
                    Direction.of(event.endpoint()),
                    decision.allowed(),
                    decisive.charge().cost(),
                    decision instanceof Decision.Degraded,
                    decisive.charge().storedKey(),
                    decisive.quota());
        }
    }
}
