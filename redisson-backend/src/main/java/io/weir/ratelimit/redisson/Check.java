// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A question to the store, all of whose keys are in one slot, on its way: completed with the answer, or with why there is none. */
final class Check extends CompletableFuture<Answer> {
    final List<Charge> charges;
    final List<String> keys;
    final boolean spends;

    /** Whether it spends only if the check that it travels with is admitted. */
    final boolean follows;

    /** Travel with it, right behind, and are answered before it: the shadow charges of the same call. */
    final List<Check> shadows;

    /** How many keys it has, with those of the checks that travel with it. */
    final int size;

    /** What {@link RefusalMemory#stamp} says of its keys. */
    final long stamp;

    /** Until when it may leave, as {@link System#nanoTime}. */
    final long deadlineNanos;

    /** Where it waits, and in which flight it is; guarded by the lane's lock. */
    Flights.@Nullable Lane lane;

    @Nullable
    Flight flight;

    /** Whether it waits no longer. */
    boolean gone;

    /** Whether it goes to Redis although the breaker is open; set before it boards. */
    boolean probe;

    Check(List<Charge> charges, List<String> keys, boolean spends, long stamp, long deadlineNanos) {
        this(charges, keys, spends, false, List.of(), stamp, deadlineNanos);
    }

    private Check(
            List<Charge> charges,
            List<String> keys,
            boolean spends,
            boolean follows,
            List<Check> shadows,
            long stamp,
            long deadlineNanos) {
        this.charges = charges;
        this.keys = keys;
        this.spends = spends;
        this.follows = follows;
        this.shadows = shadows;
        this.stamp = stamp;
        this.deadlineNanos = deadlineNanos;
        int all = keys.size();
        for (int i = 0; i < shadows.size(); i++) {
            all += shadows.get(i).keys.size();
        }
        this.size = all;
    }

    /** The same question, spent only if the check that it travels with is admitted. */
    Check following() {
        return new Check(charges, keys, true, true, List.of(), stamp, deadlineNanos);
    }

    /** This check with others that travel with it. */
    Check with(List<Check> company) {
        return new Check(charges, keys, spends, false, List.copyOf(company), stamp, deadlineNanos);
    }

    /** Whether both ask for the same, so that only their number matters. */
    boolean asksAs(Check other) {
        if (!isCountable() || !other.isCountable() || !keys.equals(other.keys)) {
            return false;
        }
        for (int i = 0; i < charges.size(); i++) {
            Charge mine = charges.get(i);
            Charge its = other.charges.get(i);
            if (mine.cost() != its.cost() || mine.patienceMicros() != its.patienceMicros()) {
                return false;
            }
        }
        return true;
    }

    private boolean isCountable() {
        return spends && !follows && shadows.isEmpty();
    }
}
