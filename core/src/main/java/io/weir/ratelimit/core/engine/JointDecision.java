// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import java.util.List;

/**
 * The decision on several calls: all of them are charged, or none.
 *
 * @param decision the decision on all charges
 * @param results the results of each call, in the order of the calls; those of a call are empty if no limit was evaluated for it
 */
public record JointDecision(Decision decision, List<List<ChargeResult>> results) {
    /** Copies the list. */
    public JointDecision {
        results = List.copyOf(results);
    }
}
