// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

/** A backend that knows the instant of its decisions by the clock of the process, so that its caller need not read the clock again. */
public interface DecisionClock {
    /**
     * Returns the instant of a decision.
     *
     * @return the instant, by {@link System#nanoTime}
     */
    long atNanos(ChargedResults results);
}
