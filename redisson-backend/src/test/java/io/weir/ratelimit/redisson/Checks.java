// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Checks as the store makes them, with time enough.
 *
 * @param keys the keys of a namespace
 */
record Checks(StoredKeys keys) {
    private static final long ENOUGH_NANOS = TimeUnit.HOURS.toNanos(1);

    static Checks in(String namespace) {
        return new Checks(StoredKeys.of(namespace));
    }

    Check spend(String identity, long cost, Limit... limits) {
        return of(List.of(TestStore.charge(identity, cost, limits)), true);
    }

    Check look(String identity, long cost, Limit... limits) {
        return of(List.of(TestStore.charge(identity, cost, limits)), false);
    }

    Check of(List<Charge> charges, boolean spends) {
        return of(charges, spends, System.nanoTime() + ENOUGH_NANOS);
    }

    Check of(List<Charge> charges, boolean spends, long deadlineNanos) {
        return new Check(charges, keys.of(charges), spends, 0, deadlineNanos);
    }

    /** The checks of a call: its shadow charges travel with the others. */
    Check call(List<Charge> charges) {
        List<Charge> enforced =
                charges.stream().filter(charge -> !charge.shadow()).toList();
        List<Check> shadows = charges.stream()
                .filter(Charge::shadow)
                .map(charge -> of(List.of(charge), true))
                .toList();
        return enforced.isEmpty()
                ? shadows.get(0).with(shadows.subList(1, shadows.size()))
                : of(enforced, true).with(shadows.stream().map(Check::following).toList());
    }
}
