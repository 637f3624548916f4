// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A call whose charges are spent from leases where that is possible. Redis decides on the others, and thereby on the call. */
public final class LeasedAcquire {
    private final LeaseTable leases;

    /** For each charge the permits of its lease, null if there are none. */
    private final @Nullable LeasedPermits[] leased;

    private final List<Charge> unleased;
    private final long nowNanos;

    /** Spends permits of leases for a call. Waits for requested permits for a time at most. No charge is in shadow mode or may wait. */
    public LeasedAcquire(LeaseTable leases, List<Charge> charges, long maxAwaitNanos) {
        this.leases = leases;
        this.nowNanos = leases.nanoTime();
        this.leased = new LeasedPermits[charges.size()];
        List<Charge> others = null;
        for (int i = 0; i < leased.length; i++) {
            // The thread may have waited for the permits of the charge before.
            leased[i] = leases.spend(charges.get(i), maxAwaitNanos, i == 0 ? nowNanos : leases.nanoTime());
            if (leased[i] == null) {
                others = others == null ? new ArrayList<>() : others;
                others.add(charges.get(i));
            }
        }
        this.unleased = others == null ? List.of() : others.size() == leased.length ? charges : others;
    }

    /** Returns the instant at which the call began, as {@link System#nanoTime}. */
    public long startNanos() {
        return nowNanos;
    }

    /** Returns the charges on which Redis must decide. */
    public List<Charge> unleased() {
        return unleased;
    }

    /** Returns the decision if all charges were spent from leases. */
    public Decision allowed() {
        LeasedPermits only = leased.length == 1 ? leased[0] : null;
        if (only != null && only.charge().policy().limits().size() == 1) {
            return only.allowed(nowNanos);
        }
        List<ChargeResult> results = new ArrayList<>(leased.length);
        List<ChargeStates> spent = new ArrayList<>(leased.length);
        for (LeasedPermits permits : leased) {
            if (permits != null) {
                results.add(permits.result(nowNanos));
                spent.add(permits.receiptEntry());
            }
        }
        return new Decision.Allowed(List.copyOf(results), new BackendReceipt(spent));
    }

    /** Returns the decision on the call, given the decision of Redis. If that is a rejection, the leased permits are refunded. */
    public Decision complete(Decision decided) {
        if (decided instanceof Decision.Allowed allowed) {
            recordAllowed(allowed.results());
            if (unleased.size() == leased.length) {
                return allowed;
            }
            return new Decision.Allowed(
                    allResults(allowed.results()),
                    new BackendReceipt(allSpent((BackendReceipt) allowed.receipt())),
                    allowed.waitMicros());
        }
        refund();
        return unleased.size() == leased.length ? decided : new Decision.Rejected(allResults(decided.results()));
    }

    private void recordAllowed(List<ChargeResult> results) {
        for (int i = 0; i < unleased.size(); i++) {
            long remaining = Long.MAX_VALUE;
            for (Quota quota : results.get(i).quotas()) {
                remaining = Math.min(remaining, quota.remaining());
            }
            leases.recordAllowed(unleased.get(i), remaining, nowNanos);
        }
    }

    private List<ChargeResult> allResults(List<ChargeResult> ofUnleased) {
        List<ChargeResult> all = new ArrayList<>(leased.length);
        Iterator<ChargeResult> others = ofUnleased.iterator();
        for (LeasedPermits permits : leased) {
            all.add(permits == null ? others.next() : permits.result(nowNanos));
        }
        return List.copyOf(all);
    }

    private List<ChargeStates> allSpent(BackendReceipt ofUnleased) {
        List<ChargeStates> all = new ArrayList<>();
        Iterator<ChargeStates> others = ofUnleased.claim().iterator();
        for (LeasedPermits permits : leased) {
            all.add(permits == null ? others.next() : permits.receiptEntry());
        }
        return all;
    }

    /** Refunds the leased permits of a call that is not allowed. */
    public void refund() {
        for (LeasedPermits permits : leased) {
            if (permits != null) {
                permits.refund(leases.nanoTime());
            }
        }
    }
}
