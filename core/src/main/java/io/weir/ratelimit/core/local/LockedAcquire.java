// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
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

    LockedAcquire(StateTable table, PendingCharge[] charges, long nowMicros) {
        this.table = table;
        this.charges = charges;
        this.nowMicros = nowMicros;
    }

    /** Decides and spends. Returns null, and changes nothing, if the table has no place for a new key. */
    @Nullable
    Decision decide() {
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
        if (allowed && newKeys > 0 && !table.reserve(newKeys)) {
            return null;
        }
        return shadow ? withShadows(allowed, wait) : withoutShadows(allowed, wait);
    }

    private Decision withoutShadows(boolean allowed, long waitMicros) {
        ChargeStates[] results = new ChargeStates[charges.length];
        for (int i = 0; i < results.length; i++) {
            results[i] = spendOrKeep(charges[i], allowed);
        }
        List<ChargeStates> all = List.of(results);
        List<Quota> quotas = ChargeStates.quotas(all, allowed, nowMicros);
        return allowed
                ? new Decision.Allowed(quotas, new BackendReceipt(all), waitMicros)
                : new Decision.Rejected(quotas);
    }

    private Decision withShadows(boolean allowed, long waitMicros) {
        List<Quota> quotas = new ArrayList<>();
        List<Quota> shadowQuotas = new ArrayList<>();
        List<ChargeStates> spent = new ArrayList<>();
        for (PendingCharge charge : charges) {
            // The shadow charges of a rejected call have no result, on any backend.
            if (charge.isShadow() && !allowed) {
                continue;
            }
            boolean spends = allowed && charge.hasRoom();
            ChargeStates result = spendOrKeep(charge, spends);
            (charge.isShadow() ? shadowQuotas : quotas).addAll(result.quotas(spends, nowMicros));
            if (spends) {
                spent.add(result);
            }
        }
        return allowed
                ? new Decision.Allowed(quotas, new BackendReceipt(spent), waitMicros, shadowQuotas)
                : new Decision.Rejected(quotas);
    }

    private ChargeStates spendOrKeep(PendingCharge charge, boolean spends) {
        if (spends) {
            charge.spend(table, nowMicros);
        } else {
            charge.keep(nowMicros);
        }
        return charge.result();
    }
}
