// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.Arrays;
import java.util.List;

/** The listeners of decisions. An event is created only for the listeners that need one. */
public final class DecisionListeners {
    private final GuardedListeners<DirectListener> direct;
    private final DirectListener[] timed;
    private final GuardedListeners<DecisionListener> others;

    /** The listeners that need some decisions only. */
    private final SelectiveListener[] selective;

    /** Those that can need an allowed decision without policies in shadow mode. */
    private final SelectiveListener[] ofAllowed;

    /** Whether a listener needs an event for each decision. */
    private final boolean needsEvents;

    public DecisionListeners(List<DecisionListener> listeners) {
        this.timed = listeners.stream().filter(DirectListener.class::isInstance).toArray(DirectListener[]::new);
        this.direct = new GuardedListeners<>(List.of(timed));
        List<DecisionListener> withEvents = listeners.stream()
                .filter(listener -> !(listener instanceof DirectListener))
                .toList();
        this.others = new GuardedListeners<>(withEvents, direct);
        this.selective =
                listeners.stream().filter(SelectiveListener.class::isInstance).toArray(SelectiveListener[]::new);
        this.ofAllowed =
                Arrays.stream(selective).filter(SelectiveListener::needsAllowed).toArray(SelectiveListener[]::new);
        this.needsEvents = selective.length < withEvents.size();
    }

    /** Returns whether a listener needs the duration of a decision. Called once for each decision. */
    public boolean needDuration() {
        boolean needed = needsEvents;
        for (DirectListener listener : timed) {
            needed |= listener.needsDuration();
        }
        return needed;
    }

    public void decided(String endpoint, List<Charge> charges, Decision decision, long nanos) {
        direct.notifyEach(DirectListener::onDecision, endpoint, charges, decision, nanos);
        if (isNeeded(decision)) {
            others.notifyEach(
                    DecisionListener::onDecision, new DecisionEvent(endpoint, charges, decision, Math.max(0, nanos)));
        }
    }

    /** Returns whether a listener needs an event, also if that is unknown: the failure is logged when the listener is notified. */
    private boolean isNeeded(Decision decision) {
        if (needsEvents) {
            return true;
        }
        boolean isPlain = decision instanceof Decision.Allowed && !ChargedResults.hasShadowQuotas(decision);
        try {
            for (SelectiveListener listener : isPlain ? ofAllowed : selective) {
                if (listener.needs(decision)) {
                    return true;
                }
            }
            return false;
        } catch (RuntimeException | LinkageError e) {
            return true;
        }
    }

    public void settled(List<Charge> settled, long actualCost) {
        direct.notifyEach((listener, charges) -> listener.onSettle(charges, actualCost), settled);
        others.notifyEach((listener, charges) -> listener.onSettle(charges, actualCost), settled);
    }

    public void bypassed(Binding binding) {
        List<PolicyLimits> policies = binding.policies().stream()
                .map(policyCost -> policyCost.policy().limits())
                .toList();
        direct.notifyEach((listener, endpoint) -> listener.onBypass(endpoint, policies), binding.endpoint());
        others.notifyEach((listener, endpoint) -> listener.onBypass(endpoint, policies), binding.endpoint());
    }
}
