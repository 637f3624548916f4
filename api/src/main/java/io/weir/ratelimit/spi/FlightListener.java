// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;
/** Interim. */
public interface FlightListener {
    /** Interim. */
    void onFlight(int checks, int keysWaiting);
}
