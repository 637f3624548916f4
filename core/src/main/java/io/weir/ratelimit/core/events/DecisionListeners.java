// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.List;

/** The listeners of decisions. An event is created only if a listener needs it. */
public final class DecisionListeners {
    private final DecisionListener[] asked;
    private final GuardedListeners<DecisionListener> notified;

    public DecisionListeners(List<DecisionListener> listeners) {
        this.asked = listeners.toArray(DecisionListener[]::new);
        this.notified = new GuardedListeners<>(listeners);
    }

    /** Returns whether a listener needs a decision, also if that is unknown: the failure is logged when the listener is notified. */
    public boolean need(Decision decision) {
        try {
            for (DecisionListener listener : asked) {
                if (listener.needs(decision)) {
                    return true;
                }
            }
            return false;
        } catch (RuntimeException | LinkageError e) {
            return true;
        }
    }

    /** Notifies the listeners of a decision that one of them {@linkplain #need needs}. */
    public void decided(DecisionEvent event) {
        notified.notifyEach(DecisionListener::onDecision, event);
    }

    public void settled(List<Charge> settled, long actualCost) {
        notified.notifyEach((listener, charges) -> listener.onSettle(charges, actualCost), settled);
    }

    public void bypassed(Binding binding) {
        List<PolicyLimits> policies = binding.policies().stream()
                .map(policyCost -> policyCost.policy().limits())
                .toList();
        notified.notifyEach((listener, endpoint) -> listener.onBypass(endpoint, policies), binding.endpoint());
    }
}
