// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * The status of a backend, as information for operators.
 *
 * @param initialized whether the backend has been ready to decide at least once; a later loss of the connection does not change it
 * @param breakerOpen whether the breaker is open, so that the backend is not called
 * @param probeAfter the time until the backend behind an open breaker is probed. It is zero if the probe is due, or if the breaker is
 *     closed
 * @param leases the number of keys for which this instance holds a lease, 0 or more
 */
public record BackendStatus(boolean initialized, boolean breakerOpen, Duration probeAfter, int leases) {
    /** The status of a backend that is ready and has no breaker. */
    public static final BackendStatus READY = new BackendStatus(true, false, Duration.ZERO);

    /** Checks that the duration is not null, and that neither value is negative. */
    public BackendStatus {
        if (Objects.requireNonNull(probeAfter, "probeAfter").isNegative()) {
            throw new IllegalArgumentException("probeAfter must not be negative");
        }
        if (leases < 0) {
            throw new IllegalArgumentException("leases must not be negative");
        }
    }

    /**
     * Creates the status of a backend without leases.
     *
     * @param initialized whether the backend has been ready to decide at least once
     * @param breakerOpen whether the breaker is open
     * @param probeAfter the time until the backend behind an open breaker is probed
     */
    public BackendStatus(boolean initialized, boolean breakerOpen, Duration probeAfter) {
        this(initialized, breakerOpen, probeAfter, 0);
    }
}
