// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.topkeys.TopKeysTracker.RecurringKey;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The charges of recent calls, by policy and by the text that determines the key. Each text has two places. A few of the callers whose
 * texts share them replace each other, so a flood of callers replaces little and writes little. Thread-safe without locks, because
 * entries are immutable.
 */
final class RecentCharges {
    /** The number of places; a power of two. */
    static final int PLACES = 65_536;

    /** One of so many calls replaces the charges of another caller. */
    private static final int REPLACED = 32;

    /** The greatest length of a text, which bounds the memory. */
    static final int LONGEST = 128;

    private final @Nullable Entry[] entries = new @Nullable Entry[PLACES];

    private final Function<List<Charge>, Supplier<Decision>> acquires;

    /** The only charge of a call, as a list that later calls with the same key reuse; {@code acquire} spends it, each time. */
    record Entry(Policy policy, String source, List<Charge> charges, RecurringKey key, Supplier<Decision> acquire) {}

    /** Creates an empty table, with a function that returns the acquire of charges. */
    RecentCharges(Function<List<Charge>, Supplier<Decision>> acquires) {
        this.acquires = acquires;
    }

    /** Returns the charge of the last call with the policy, the text and the cost, null if it is not known. */
    @Nullable
    Entry get(Policy policy, String source, long cost) {
        int place = place(policy, source);
        Entry entry = entry(place, policy, source, cost);
        return entry == null ? entry(neighbor(place), policy, source, cost) : entry;
    }

    @SuppressWarnings("ReferenceEquality") // a reload creates the policies anew
    private @Nullable Entry entry(int place, Policy policy, String source, long cost) {
        Entry entry = entries[place];
        return entry != null
                        && entry.policy == policy
                        && entry.source.equals(source)
                        && entry.charges.get(0).cost() == cost
                ? entry
                : null;
    }

    /** Keeps the only charge of a call and returns it. */
    Entry put(Policy policy, String source, Charge charge) {
        List<Charge> charges = List.of(charge);
        Entry entry = new Entry(
                policy,
                source,
                charges,
                new RecurringKey(charge.policy().policy(), charge.storedKey()),
                acquires.apply(charges));
        int place = place(policy, source);
        if (entries[place] != null && entries[neighbor(place)] == null) {
            place = neighbor(place);
        }
        if (source.length() <= LONGEST
                && (entries[place] == null || ThreadLocalRandom.current().nextInt(REPLACED) == 0)) {
            entries[place] = entry;
        }
        return entry;
    }

    /** Returns the other place of a caller. It is beside the first one, so that a second look-up reads the same memory. */
    private static int neighbor(int place) {
        return place ^ 1;
    }

    static int place(Policy policy, String source) {
        int hash = (31 * policy.name().hashCode() + source.hashCode()) * 0x9E3779B9;
        return hash >>> (Integer.SIZE - Integer.numberOfTrailingZeros(PLACES));
    }
}
