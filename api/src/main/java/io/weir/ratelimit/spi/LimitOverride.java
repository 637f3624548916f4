// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.Objects;
import java.util.OptionalLong;

/**
 * The limits that hold for one key in place of its policy's. The policy's algorithm and max-wait stay.
 *
 * @param limit the limits as configuration writes them, such as {@code 10/1s, 1000/1h}; what is wrong with them is found when
 *     they are used. A limit whose window the policy has too goes on counting where that one was, any other starts afresh
 * @param burst what a bucket holds, 1 or more, for a policy whose algorithm is one; empty for the algorithm's default
 */
public record LimitOverride(String limit, OptionalLong burst) {
    /** Checks that no component is null. */
    public LimitOverride {
        Objects.requireNonNull(limit, "limit");
        Objects.requireNonNull(burst, "burst");
    }

    /**
     * Limits without a burst of their own.
     *
     * @param limit the limits as configuration writes them
     * @return the override
     */
    public static LimitOverride of(String limit) {
        return new LimitOverride(limit, OptionalLong.empty());
    }
}
