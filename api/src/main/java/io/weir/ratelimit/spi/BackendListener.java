// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

/**
 * Hears of what a shared store does.
 *
 * <p>Called on any thread, those of the store's client included, and by several at once. It must be quick, never block and never
 * throw: callers wait behind it.
 */
@FunctionalInterface
public interface BackendListener {
    /**
     * A flight leaves: a call to the shared store, in which the checks of one decision or of several leave together.
     *
     * @param checks the decisions that it asks for, 1 or more
     * @param keysWaiting the stored keys of the checks that it left behind and that wait for the next one, 0 or more
     */
    void onFlight(int checks, int keysWaiting);

    /**
     * The breaker has opened or closed. Told once per change, in order.
     *
     * @param open whether the shared store is not asked from now on
     */
    default void onBreaker(boolean open) {}

    /**
     * The number of keys for which this instance holds permits ahead has changed.
     *
     * @param leases the number now, 0 or more
     */
    default void onLeases(int leases) {}
}
