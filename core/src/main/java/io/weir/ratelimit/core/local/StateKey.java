// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.WindowLimit;

/**
 * One limit of one stored key. A value-based class that keeps its hash code. A limit is the same for a key if its policy, its kind and its
 * window are the same, whatever its permits are. A changed timeout of a concurrency limit keeps the slots.
 */
final class StateKey implements Comparable<StateKey> {
    private static final String CALENDAR = "calendar";
    private static final String CONCURRENCY = "concurrency";
    private static final String POLICY = "";

    private final String storedKey;
    private final String policy;
    private final String kind;
    private final long windowMicros;
    private final int hash;

    private StateKey(String storedKey, String policy, String kind, long windowMicros) {
        this.storedKey = storedKey;
        this.policy = policy;
        this.kind = kind;
        this.windowMicros = windowMicros;
        this.hash = 31 * (31 * storedKey.hashCode() + policy.hashCode())
                + 31 * kind.hashCode()
                + Long.hashCode(windowMicros);
    }

    /** Returns the key of a stored key under a policy, whatever the limits of the policy are. */
    static StateKey of(String storedKey, String policy) {
        return new StateKey(storedKey, policy, POLICY, 0);
    }

    /** Returns the key of one limit of a charge. */
    static StateKey of(Charge charge, int index) {
        return of(
                charge.storedKey(),
                charge.policy().policy(),
                charge.policy().limits().get(index));
    }

    private static StateKey of(String storedKey, String policy, Limit limit) {
        if (limit instanceof WindowLimit window) {
            return new StateKey(storedKey, policy, window.algorithm().configName(), limit.windowMicros());
        }
        return limit instanceof CalendarLimit
                ? new StateKey(storedKey, policy, CALENDAR, limit.windowMicros())
                : new StateKey(storedKey, policy, CONCURRENCY, 0);
    }

    String storedKey() {
        return storedKey;
    }

    /** Returns the limit of this key without its stored key. */
    StateKey ofAllKeys() {
        return new StateKey("", policy, kind, windowMicros);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StateKey that
                && hash == that.hash
                && windowMicros == that.windowMicros
                && storedKey.equals(that.storedKey)
                && kind.equals(that.kind)
                && policy.equals(that.policy);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** Orders keys, so that a {@link java.util.HashMap} stays fast if a client sends many keys with one hash code. */
    @Override
    public int compareTo(StateKey other) {
        int byStoredKey = storedKey.compareTo(other.storedKey);
        if (byStoredKey != 0) {
            return byStoredKey;
        }
        int byPolicy = policy.compareTo(other.policy);
        if (byPolicy != 0) {
            return byPolicy;
        }
        int byKind = kind.compareTo(other.kind);
        return byKind == 0 ? Long.compare(windowMicros, other.windowMicros) : byKind;
    }
}
