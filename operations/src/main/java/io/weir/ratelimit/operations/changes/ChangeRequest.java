// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.operations.changes;

import io.weir.ratelimit.spi.BlocksKeys;
import java.time.Duration;
import java.time.Instant;
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
    /** The longest time for which a change can be in force, which is that of a block. */
    public static final Duration LONGEST = BlocksKeys.MAX_BLOCK;

    /** Copies the map. */
    public ChangeRequest {
        values = Map.copyOf(values);
    }

    /** Returns the end of a change that is made at an instant. A block without an end has the longest time. */
    Optional<Instant> until(Instant at) {
        return length.or(() -> Optional.of(LONGEST).filter(any -> subject.kind() == RuntimeChange.Kind.BLOCK))
                .map(at::plus);
    }
}
