// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

/**
 * Hears of each flight of a store that combines checks: of each call to the shared store, in which the checks of one decision or
 * of several leave together.
 *
 * <p>Called on any thread, those of the store's client included, and by several at once. It must be quick, never block and never
 * throw: callers wait behind it.
 */
@FunctionalInterface
public interface FlightListener {
    /**
     * A flight leaves.
     *
     * @param checks the decisions that it asks for, 1 or more
     * @param keysWaiting the stored keys of the checks that it left behind and that wait for the next one, 0 or more
     */
    void onFlight(int checks, int keysWaiting);
}
