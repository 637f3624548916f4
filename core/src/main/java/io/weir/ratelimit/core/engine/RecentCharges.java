// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.request.Binding.PolicyCost;
import io.weir.ratelimit.core.topkeys.TopKeysTracker.RecurringKey;
import io.weir.ratelimit.spi.Charge;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The charges of recent calls, by their policies and by the text that determines their keys. Each text has two places. A few of the
 * callers whose texts share them replace each other, so a flood of callers replaces little and writes little. Thread-safe without locks,
 * because entries are immutable.
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

    /** The charges of a call, which later calls with the same text reuse; {@code acquire} spends them, each time. */
    record Entry(
            List<PolicyCost> policies,
            String source,
            List<Charge> charges,
            List<RecurringKey> keys,
            Supplier<Decision> acquire) {
        @SuppressWarnings("ReferenceEquality") // a reload creates the policies anew
        private boolean isOf(List<PolicyCost> called, String text) {
            if (called.size() != policies.size() || !source.equals(text)) {
                return false;
            }
            for (int i = 0; i < called.size(); i++) {
                PolicyCost each = policies.get(i);
                if (called.get(i).policy() != each.policy() || called.get(i).cost() != each.cost()) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Creates an empty table, with a function that returns the acquire of charges. */
    RecentCharges(Function<List<Charge>, Supplier<Decision>> acquires) {
        this.acquires = acquires;
    }

    /** Returns the charges of the last call with the policies, their costs and the text, null if they are not known. */
    @Nullable
    Entry get(List<PolicyCost> policies, String source) {
        int place = place(policies, source);
        Entry entry = entries[place];
        if (entry == null || !entry.isOf(policies, source)) {
            entry = entries[neighbor(place)];
        }
        return entry != null && entry.isOf(policies, source) ? entry : null;
    }

    /** Keeps the charges of a call and returns them. */
    Entry put(List<PolicyCost> policies, String source, List<Charge> charges) {
        RecurringKey[] keys = new RecurringKey[charges.size()];
        Arrays.setAll(keys, i -> new RecurringKey(charges.get(i)));
        Entry entry = new Entry(policies, source, charges, List.of(keys), acquires.apply(charges));
        int place = place(policies, source);
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

    static int place(List<PolicyCost> policies, String source) {
        int hash = source.hashCode();
        for (int i = 0; i < policies.size(); i++) {
            hash = 31 * hash + policies.get(i).policy().name().hashCode();
        }
        return (hash * 0x9E3779B9) >>> (Integer.SIZE - Integer.numberOfTrailingZeros(PLACES));
    }
}
