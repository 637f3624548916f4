// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * A change that an operator requests.
 *
 * @param subject the policy or the key
 * @param values the new values by attribute; empty for a block
 * @param length the time until the change ends; empty if it has no end
 * @param reason the reason, 1 to 200 printable characters
 * @param author the user of the container
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
