// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.time.Duration;
import java.util.Objects;

/**
 * A penalty of a key: a block after many rejections.
 *
 * @param duration the length of the block
 * @param number the number of this penalty among those of the key that are not forgotten, 1 or more
 */
public record Penalty(Duration duration, int number) {
    /** Checks that the duration is not null and the number is positive. */
    public Penalty {
        Objects.requireNonNull(duration, "duration");
        if (number < 1) {
            throw new IllegalArgumentException("the first penalty has the number 1");
        }
    }
}
