// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A call some of whose charges are spent from leases; the others are Redis's to decide about, and then about the whole. */
final class Ahead {
    private final Leases leases;
    private final List<Charge> charges;
    private final Lease.@Nullable Taken[] taken;
    private final List<Charge> rest;
    private final long nowNanos;

    private Ahead(Leases leases, List<Charge> charges, boolean waits) {
        this.leases = leases;
        this.charges = charges;
        this.nowNanos = leases.nanoTime();
        this.taken = new Lease.Taken[charges.size()];
        List<Charge> without = null;
        for (int i = 0; i < taken.length; i++) {
            // Permits for the charge before may have been waited for.
            taken[i] = leases.take(charges.get(i), waits, i == 0 ? nowNanos : leases.nanoTime());
            if (taken[i] == null) {
                without = without == null ? new ArrayList<>() : without;
                without.add(charges.get(i));
            }
        }
        this.rest = without == null ? List.of() : without.size() == taken.length ? charges : without;
    }

    /**
     * Takes what is there for a call, none of whose charges is in shadow mode or may wait for its slot.
     *
     * @param waits whether the caller's thread may wait for permits that are on their way, for a moment
     */
    static Ahead of(Leases leases, List<Charge> charges, boolean waits) {
        return new Ahead(leases, charges, waits);
    }

    /** What was not there. */
    List<Charge> rest() {
        return rest;
    }

    /** The decision, all of which was there. */
    Decision admitted() {
        List<Quota> quotas = new ArrayList<>();
        List<BackendReceipt.Entry> entries = new ArrayList<>(taken.length);
        for (Lease.Taken each : taken) {
            if (each != null) {
                each.addQuotas(nowNanos, quotas);
                entries.add(each.entry());
            }
        }
        return new Decision.Allowed(quotas, BackendReceipt.of(entries));
    }

    /** The decision about the whole, from that about the rest. */
    Decision joined(Decision decided) {
        if (decided instanceof Decision.Allowed allowed) {
            tell(allowed.quotas());
            if (rest.size() == taken.length) {
                return allowed;
            }
            List<Quota> quotas = quotas(allowed.quotas());
            return new Decision.Allowed(
                    quotas, BackendReceipt.of(entries((BackendReceipt) allowed.receipt())), allowed.waitMicros());
        }
        putBack();
        return rest.size() == taken.length ? decided : new Decision.Rejected(quotas(decided.quotas()));
    }

    private void tell(List<Quota> quotas) {
        int i = 0;
        for (Charge charge : rest) {
            long least = Long.MAX_VALUE;
            for (int limit = 0; limit < charge.policy().limits().size(); limit++) {
                least = Math.min(least, quotas.get(i).remaining());
                i++;
            }
            leases.admitted(charge, least, nowNanos);
        }
    }

    private List<Quota> quotas(List<Quota> ofRest) {
        List<Quota> all = new ArrayList<>();
        Iterator<Quota> others = ofRest.iterator();
        for (int i = 0; i < taken.length; i++) {
            Lease.Taken mine = taken[i];
            if (mine != null) {
                mine.addQuotas(nowNanos, all);
                continue;
            }
            for (int limit = 0; limit < charges.get(i).policy().limits().size(); limit++) {
                all.add(others.next());
            }
        }
        return all;
    }

    private List<BackendReceipt.Entry> entries(BackendReceipt ofRest) {
        List<BackendReceipt.Entry> all = new ArrayList<>();
        Iterator<BackendReceipt.Entry> others = ofRest.use().iterator();
        for (Lease.Taken mine : taken) {
            all.add(mine == null ? others.next() : mine.entry());
        }
        return all;
    }

    /** Puts back what was taken: the call is not admitted. */
    void putBack() {
        for (Lease.Taken each : taken) {
            if (each != null) {
                each.putBack(leases.nanoTime());
            }
        }
    }
}
