// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.operations;

import io.weir.ratelimit.spi.BackendException;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * A store in which instances record that they are live, so that each instance learns their number. A decision of the shared backend does
 * not depend on it; failure modes use the number while the backend does not decide.
 */
public interface PresenceStore {
    /** The time for which an instance counts as live after it has recorded its presence. */
    Duration LIFETIME = Duration.ofSeconds(30);

    /** The greatest number of instances that are counted. */
    int MAX_INSTANCES = FleetStore.MAX_INSTANCES;

    /**
     * Records that an instance is live, without waiting. The stage completes with a {@link BackendException} if the store does not answer,
     * or if it is not called because a breaker is open.
     *
     * @param instance 1 to 32 of the characters {@code a-z 0-9}
     * @return the number of live instances including this one, 1 to {@value #MAX_INSTANCES}
     */
    CompletionStage<Integer> present(String instance);
}
