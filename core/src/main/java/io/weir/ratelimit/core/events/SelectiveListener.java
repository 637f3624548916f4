// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.events;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.DecisionListener;

/**
 * A listener that needs some decisions only, and not their duration. If no listener needs a decision, no event is created for it. If all
 * listeners are selective, the duration can be 0, because it is not measured.
 */
public interface SelectiveListener extends DecisionListener {
    /**
     * Tests whether this listener needs a decision. Called on the thread that took the decision.
     *
     * @param decision the decision
     * @return false if {@link #onDecision} would have no effect
     */
    boolean needs(Decision decision);

    /**
     * Tests whether this listener can need an allowed decision without policies in shadow mode, as most decisions are. It is asked once.
     *
     * @return false if {@link #needs} returns false for all such decisions
     */
    default boolean needsAllowed() {
        return true;
    }
}
