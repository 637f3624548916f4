// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The charges of recent calls, by policy and by the text that determines the key. A few of the callers whose texts share a place replace
 * each other, so a flood of callers replaces little and writes little. Thread-safe without locks, because entries are immutable.
 */
final class RecentCharges {
    /** The number of places; a power of two. */
    static final int PLACES = 16_384;

    /** One of so many calls replaces the charges of another caller. */
    private static final int REPLACED = 32;

    /** The greatest length of a text, which bounds the memory. */
    static final int LONGEST = 128;

    private final @Nullable Entry[] entries = new @Nullable Entry[PLACES];

    private record Entry(Policy policy, String source, List<Charge> charges) {}

    /** Returns the charges of the last call with the policy, the text and the cost, null if they are not known. */
    @SuppressWarnings("ReferenceEquality") // a reload creates the policies anew
    @Nullable
    List<Charge> get(Policy policy, String source, long cost) {
        Entry entry = entries[place(policy, source)];
        return entry != null
                        && entry.policy == policy
                        && entry.charges.get(0).cost() == cost
                        && entry.source.equals(source)
                ? entry.charges
                : null;
    }

    /** Keeps the only charge of a call. */
    void put(Policy policy, String source, List<Charge> charges) {
        int place = place(policy, source);
        if (source.length() <= LONGEST
                && (entries[place] == null || ThreadLocalRandom.current().nextInt(REPLACED) == 0)) {
            entries[place] = new Entry(policy, source, charges);
        }
    }

    static int place(Policy policy, String source) {
        int hash = (31 * policy.name().hashCode() + source.hashCode()) * 0x9E3779B9;
        return hash >>> (Integer.SIZE - Integer.numberOfTrailingZeros(PLACES));
    }
}
