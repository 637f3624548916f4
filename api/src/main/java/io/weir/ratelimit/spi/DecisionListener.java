// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Decision;
import java.util.List;

/**
 * Hears of every decision, after it was taken and on the thread that took it. A CDI bean of this type takes part by being
 * there. What it throws is logged and changes nothing; how long it takes, the caller waits.
 */
@FunctionalInterface
public interface DecisionListener {
    /**
     * A decision was taken.
     *
     * @param endpoint what was called: {@code Class.method}, or {@code RateLimiter} for code
     * @param charges what it would spend; identities are in their stored form, which can hold a name or an address, and must not
     *     be shown
     * @param decision the decision
     */
    void onDecision(String endpoint, List<Charge> charges, Decision decision);
}
