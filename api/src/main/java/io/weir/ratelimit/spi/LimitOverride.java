// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.Objects;
import java.util.OptionalLong;

/**
 * The limits of one key in place of the limits of its policy. The algorithm and the {@code max-wait} of the policy still apply.
 *
 * @param limit the limits in the syntax of configuration, such as {@code 10/1s, 1000/1h}; checked when they are first used. A limit with
 *     the same window as a limit of the policy continues with its state. Any other limit starts with an untouched key
 * @param burst the capacity of a bucket in permits, 1 or more, for policies with a bucket algorithm; empty for the default of the
 *     algorithm
 */
public record LimitOverride(String limit, OptionalLong burst) {
    /** Checks that no component is null. */
    public LimitOverride {
        Objects.requireNonNull(limit, "limit");
        Objects.requireNonNull(burst, "burst");
    }

    /**
     * Returns an override with the default burst.
     *
     * @param limit the limits in the syntax of configuration
     * @return the override
     */
    public static LimitOverride of(String limit) {
        return new LimitOverride(limit, OptionalLong.empty());
    }
}
