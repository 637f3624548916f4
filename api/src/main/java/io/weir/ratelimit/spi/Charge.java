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
 * @param patienceMicros how long the call is ready to wait for its slot, in microseconds, 0 or more; a limit counts no more of
 *     it than its {@link Limit#maxWait()}
 */
public record Charge(PolicyLimits policy, String identity, long cost, long patienceMicros) {
    /** Checks that no component is null, the cost is positive and the patience not negative. */
    public Charge {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(identity, "identity");
        if (cost < 1) {
            throw new IllegalArgumentException("cost must be at least 1");
        }
        if (patienceMicros < 0) {
            throw new IllegalArgumentException("patience must not be negative");
        }
    }

    /**
     * A charge of a call that does not wait.
     *
     * @param policy the policy's limits
     * @param identity the key in its stored form
     * @param cost permits to spend, 1 or more
     */
    public Charge(PolicyLimits policy, String identity, long cost) {
        this(policy, identity, cost, 0);
    }

    /** Does not show the identity, which is a person's. */
    @Override
    public String toString() {
        return "Charge[" + policy + ", cost=" + cost
                + (patienceMicros == 0 ? "" : ", patience=" + patienceMicros + " µs") + "]";
    }
}
