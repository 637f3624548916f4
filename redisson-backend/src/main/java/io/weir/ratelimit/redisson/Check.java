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

    Check(List<Charge> charges, List<String> keys, boolean spends, long stamp, long deadlineNanos) {
        this.charges = charges;
        this.keys = keys;
        this.spends = spends;
        this.stamp = stamp;
        this.deadlineNanos = deadlineNanos;
    }

    /** Whether both ask for the same, so that only their number matters. */
    boolean asksAs(Check other) {
        if (!spends || !other.spends || !keys.equals(other.keys)) {
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
}
