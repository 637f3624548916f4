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
 * @param shadow whether the policy is in shadow mode: the charge is decided with the others of its call at the same instant and
 *     refuses nobody. It is spent if all of its limits have room and the call is admitted, else nothing of it is. It does not wait
 */
public record Charge(PolicyLimits policy, String identity, long cost, long patienceMicros, boolean shadow) {
    /** Checks that no component is null, the cost is positive, and the patience not negative and that of a shadow charge 0. */
    public Charge {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(identity, "identity");
        if (cost < 1) {
            throw new IllegalArgumentException("cost must be at least 1");
        }
        if (patienceMicros < 0) {
            throw new IllegalArgumentException("patience must not be negative");
        }
        if (shadow && patienceMicros > 0) {
            throw new IllegalArgumentException("a shadow charge does not wait");
        }
    }

    /**
     * A charge that is enforced.
     *
     * @param policy the policy's limits
     * @param identity the key in its stored form
     * @param cost permits to spend, 1 or more
     * @param patienceMicros how long the call is ready to wait for its slot, in microseconds, 0 or more
     */
    public Charge(PolicyLimits policy, String identity, long cost, long patienceMicros) {
        this(policy, identity, cost, patienceMicros, false);
    }

    /**
     * A charge that is enforced, of a call that does not wait.
     *
     * @param policy the policy's limits
     * @param identity the key in its stored form
     * @param cost permits to spend, 1 or more
     */
    public Charge(PolicyLimits policy, String identity, long cost) {
        this(policy, identity, cost, 0, false);
    }

    /**
     * The same of a policy in shadow mode, which does not wait.
     *
     * @return a shadow charge
     */
    public Charge asShadow() {
        return new Charge(policy, identity, cost, 0, true);
    }

    /**
     * The same of a call that does not wait.
     *
     * @return a charge without patience
     */
    public Charge withoutPatience() {
        return patienceMicros == 0 ? this : new Charge(policy, identity, cost, 0, shadow);
    }

    /** Does not show the identity, which is a person's. */
    @Override
    public String toString() {
        return "Charge[" + policy + ", cost=" + cost
                + (patienceMicros == 0 ? "" : ", patience=" + patienceMicros + " µs") + (shadow ? ", shadow" : "")
                + "]";
    }
}
