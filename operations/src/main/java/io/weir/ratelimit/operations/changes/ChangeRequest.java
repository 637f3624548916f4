// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * A change that an operator requests, for a reason of 1 to 200 printable characters. The values by attribute are empty for a block. The
 * author is the user of the container. The length is empty if the change has no end.
 */
public record ChangeRequest(
        RuntimeChange.Subject subject,
        Map<String, String> values,
        Optional<Duration> length,
        String reason,
        String author) {
    /** Copies the map. */
    public ChangeRequest {
        values = Map.copyOf(values);
    }
}
