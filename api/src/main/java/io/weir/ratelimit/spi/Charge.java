// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.Objects;

/**
 * One policy applied to one key in one call.
 *
 * @param policy the policy's limits
 * @param identity the key in its stored form: printable ASCII without braces, colons or blanks, at most some hundred
 *     characters whatever a client sent. It can hold a user's name or address: show it to nobody unhashed
 * @param cost permits to spend, 1 or more
 */
public record Charge(PolicyLimits policy, String identity, long cost) {
    /** Checks that no component is null and the cost is positive. */
    public Charge {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(identity, "identity");
        if (cost < 1) {
            throw new IllegalArgumentException("cost must be at least 1");
        }
    }

    /** Does not show the identity, which is a person's. */
    @Override
    public String toString() {
        return "Charge[" + policy + ", cost=" + cost + "]";
    }
}
