// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;

/** One limit of one stored key. A value-based class that keeps its hash code. */
final class StateKey implements Comparable<StateKey> {
    private final String storedKey;
    private final String suffix;
    private final int hash;

    /**
     * Creates a key.
     *
     * @param storedKey the stored key
     * @param suffix the {@linkplain PolicyLimits#storedKeySuffix suffix} of the limit
     */
    StateKey(String storedKey, String suffix) {
        this.storedKey = storedKey;
        this.suffix = suffix;
        this.hash = 31 * storedKey.hashCode() + suffix.hashCode();
    }

    /** Returns the key of one limit of a charge. */
    static StateKey of(Charge charge, int index) {
        return new StateKey(charge.storedKey(), charge.policy().storedKeySuffix(index));
    }

    String storedKey() {
        return storedKey;
    }

    String suffix() {
        return suffix;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StateKey that && storedKey.equals(that.storedKey) && suffix.equals(that.suffix);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** Orders keys, so that a {@link java.util.HashMap} stays fast if a client sends many keys with one hash code. */
    @Override
    public int compareTo(StateKey other) {
        int byStoredKey = storedKey.compareTo(other.storedKey);
        return byStoredKey != 0 ? byStoredKey : suffix.compareTo(other.suffix);
    }
}
