// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import java.util.Objects;

/**
 * A charge: one policy applied to one key in one request.
 *
 * @param policy the limits of the policy
 * @param storedKey the text of the key in a backend: printable ASCII without braces, colons and spaces, at most a few hundred characters,
 *     whatever the client sent. It can contain a user name or an address, so it must not be shown without hashing
 * @param cost the permits to spend, 1 or more
 * @param maxWaitMicros how long the call may wait for its permits, in microseconds, 0 or more. A limit counts at most its {@link
 *     Limit#maxWait()}
 * @param shadow whether the policy is in shadow mode. Such a charge is evaluated once the other charges allow the call, and never
 *     rejects the call. Its permits are spent if all limits of the policy have enough permits. It never waits
 */
public record Charge(PolicyLimits policy, String storedKey, long cost, long maxWaitMicros, boolean shadow) {
    /** Checks that no component is null, that cost and wait are in range, and that a shadow charge does not wait. */
    public Charge {
        Objects.requireNonNull(policy, "policy");
        Objects.requireNonNull(storedKey, "storedKey");
        if (cost < 1) {
            throw new IllegalArgumentException("cost must be at least 1");
        }
        if (maxWaitMicros < 0) {
            throw new IllegalArgumentException("maxWaitMicros must not be negative");
        }
        if (shadow && maxWaitMicros > 0) {
            throw new IllegalArgumentException("a shadow charge does not wait");
        }
    }

    /**
     * Creates a charge of an enforced policy.
     *
     * @param policy the limits of the policy
     * @param storedKey the stored key
     * @param cost the permits to spend, 1 or more
     * @param maxWaitMicros how long the call may wait for its permits, in microseconds, 0 or more
     */
    public Charge(PolicyLimits policy, String storedKey, long cost, long maxWaitMicros) {
        this(policy, storedKey, cost, maxWaitMicros, false);
    }

    /**
     * Creates a charge of an enforced policy for a call that does not wait.
     *
     * @param policy the limits of the policy
     * @param storedKey the stored key
     * @param cost the permits to spend, 1 or more
     */
    public Charge(PolicyLimits policy, String storedKey, long cost) {
        this(policy, storedKey, cost, 0, false);
    }

    /**
     * Returns this charge for a policy in shadow mode.
     *
     * @return a shadow charge, which does not wait
     */
    public Charge asShadow() {
        return new Charge(policy, storedKey, cost, 0, true);
    }

    /**
     * Returns this charge for a call that does not wait.
     *
     * @return a charge with a {@code maxWaitMicros} of 0
     */
    public Charge withoutMaxWait() {
        return maxWaitMicros == 0 ? this : new Charge(policy, storedKey, cost, 0, shadow);
    }

    /** Returns the charge without its stored key, which can be personal data. */
    @Override
    public String toString() {
        return "Charge[" + policy + ", cost=" + cost
                + (maxWaitMicros == 0 ? "" : ", maxWait=" + maxWaitMicros + " µs") + (shadow ? ", shadow" : "")
                + "]";
    }
}
