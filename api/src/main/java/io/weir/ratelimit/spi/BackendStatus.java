// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * What a store says about itself at the moment, as information for operators.
 *
 * @param connected whether it has ever been ready to decide; a store that lost its connection is still connected here, and what
 *     calls see tells the rest
 * @param breakerOpen whether it is not asked at the moment because it failed too often in a row
 * @param untilProbe how long until an open breaker lets one call find out whether the store is back; zero if the next call does, or
 *     if it is closed
 */
public record BackendStatus(boolean connected, boolean breakerOpen, Duration untilProbe) {
    /** A store that is ready and has no breaker. */
    public static final BackendStatus READY = new BackendStatus(true, false, Duration.ZERO);

    /** Checks that the duration is there and not negative. */
    public BackendStatus {
        if (Objects.requireNonNull(untilProbe, "untilProbe").isNegative()) {
            throw new IllegalArgumentException("untilProbe must not be negative");
        }
    }
}
