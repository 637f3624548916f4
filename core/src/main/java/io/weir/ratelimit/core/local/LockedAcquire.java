// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An acquire at one instant, while the shards of its keys are locked. */
final class LockedAcquire {
    private final StateTable table;
    private final PendingCharge[] charges;
    private final long nowMicros;

    /** Whether the new keys of this acquire spend from sketches. */
    private boolean sketched;

    LockedAcquire(StateTable table, PendingCharge[] charges, long nowMicros) {
        this.table = table;
        this.charges = charges;
        this.nowMicros = nowMicros;
    }

    /** Decides and spends. Returns null, and changes nothing, if the table has no place for a new key. */
    @Nullable
    Decision decide() {
        return decide(false);
    }

    /**
     * Decides and spends, from sketches if the table has no place for a new key. Returns null, and changes nothing, if there are too many
     * sketches. The charges are not in shadow mode, and the caller holds the lock of the sketches.
     */
    @Nullable
    Decision decideApproximately() {
        return decide(true);
    }

    private @Nullable Decision decide(boolean approximately) {
        boolean allowed = true;
        boolean shadow = false;
        long wait = 0;
        int newKeys = 0;
        for (PendingCharge charge : charges) {
            long latest = charge.read(table, nowMicros);
            newKeys += charge.hasRoom() ? charge.newKeys() : 0;
            if (charge.isShadow()) {
                shadow = true;
            } else {
                allowed &= charge.hasRoom();
                wait = Math.max(wait, latest);
            }
        }
        if (allowed && newKeys > 0 && !table.reserve(newKeys, nowMicros)) {
            sketched = approximately && createSketches();
            if (!sketched) {
                return null;
            }
        }
        return shadow ? withShadows(allowed, wait) : withoutShadows(allowed, wait);
    }

    private boolean createSketches() {
        for (PendingCharge charge : charges) {
            if (!charge.createSketches(table.sketches(), nowMicros)) {
                return false;
            }
        }
        return true;
    }

    private Decision withoutShadows(boolean allowed, long waitMicros) {
        ChargeStates[] states = new ChargeStates[charges.length];
        for (int i = 0; i < states.length; i++) {
            states[i] = spendOrKeep(charges[i], allowed);
        }
        List<ChargeStates> all = List.of(states);
        List<ChargeResult> results = ChargeStates.results(all, allowed, nowMicros);
        return allowed
                ? new Decision.Allowed(results, new BackendReceipt(sketched ? stored(all) : all), waitMicros)
                : new Decision.Rejected(results);
    }

    /** Returns the charges whose keys are all in the table. A sketch cannot refund: a lower cell would be too low for other keys. */
    private List<ChargeStates> stored(List<ChargeStates> all) {
        List<ChargeStates> stored = new ArrayList<>();
        for (int i = 0; i < charges.length; i++) {
            if (charges[i].newKeys() == 0) {
                stored.add(all.get(i));
            }
        }
        return stored;
    }

    private Decision withShadows(boolean allowed, long waitMicros) {
        List<ChargeResult> results = new ArrayList<>(charges.length);
        List<ChargeStates> spent = new ArrayList<>();
        for (PendingCharge charge : charges) {
            // The shadow charges of a rejected call are not evaluated, on any backend.
            if (charge.isShadow() && !allowed) {
                results.add(charge.unknownResult());
                continue;
            }
            boolean spends = allowed && charge.hasRoom();
            ChargeStates states = spendOrKeep(charge, spends);
            results.add(states.result(spends, nowMicros));
            if (spends) {
                spent.add(states);
            }
        }
        return allowed
                ? new Decision.Allowed(List.copyOf(results), new BackendReceipt(spent), waitMicros)
                : new Decision.Rejected(results);
    }

    private ChargeStates spendOrKeep(PendingCharge charge, boolean spends) {
        if (spends && sketched) {
            charge.spendApproximately(table, nowMicros);
        } else if (spends) {
            charge.spend(table, nowMicros);
        } else {
            charge.keep(nowMicros);
        }
        return charge.result();
    }
}
