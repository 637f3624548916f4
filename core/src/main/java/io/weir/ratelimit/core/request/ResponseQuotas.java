// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The decisions of one request, as far as its response shows them. */
public final class ResponseQuotas {
    private List<Quota> latest = List.of();
    private @Nullable Decision decision;

    /** The charges of the decisions before the last one; null if the request has one decision, as most have. */
    private @Nullable ReservedCharges reserved;

    private boolean lastIsReserved;

    /** The receipts with slots, which are released when the request ends. */
    private List<Receipt> slots = List.of();

    private String endpoint = "";
    private List<Charge> charges = List.of();
    private boolean hidden;
    private long atNanos;

    ResponseQuotas() {}

    synchronized void add(Binding binding, TimedDecision timed) {
        Decision last = timed.decision();
        if (decision != null) {
            ReservedCharges unused = reserved();
        }
        decision = last;
        lastIsReserved = false;
        if (last.receipt().holdsSlots()) {
            slots = slots.isEmpty() ? new ArrayList<>() : slots;
            slots.add(last.receipt());
        }
        endpoint = binding.endpoint();
        charges = timed.charges();
        atNanos = timed.atNanos();
        hidden |= binding.isMinimal(charges);
        latest = latest.isEmpty() ? last.quotas() : merge(latest, last.quotas());
    }

    /** Returns the charges of the decisions so far that can be settled. */
    public synchronized ReservedCharges reserved() {
        ReservedCharges all = reserved == null ? new ReservedCharges() : reserved;
        reserved = all;
        if (decision != null && !lastIsReserved) {
            all.add(decision.receipt());
            lastIsReserved = true;
        }
        return all;
    }

    /** Removes and returns the receipts with slots. */
    public synchronized List<Receipt> takeSlots() {
        List<Receipt> taken = slots;
        slots = List.of();
        return taken;
    }

    private static List<Quota> merge(List<Quota> older, List<Quota> newer) {
        List<Quota> merged = new ArrayList<>(older);
        for (Quota quota : newer) {
            merged.removeIf(
                    each -> each.policy().equals(quota.policy()) && each.name().equals(quota.name()));
            merged.add(quota);
        }
        return List.copyOf(merged);
    }

    /** Returns the last decision; empty if no limit was checked. */
    public synchronized Optional<Decision> last() {
        return Optional.ofNullable(decision);
    }

    /** Returns the last decision with its charges, without its duration; empty if no limit was checked. */
    public synchronized Optional<DecisionEvent> lastEvent() {
        return decision == null ? Optional.empty() : Optional.of(new DecisionEvent(endpoint, charges, decision, 0));
    }

    /** Returns the latest quota of each limit, in the order of the decisions. */
    public synchronized List<Quota> all() {
        return latest;
    }

    /** Returns the instant of the last decision, by {@link System#nanoTime}; 0 if no limit was checked. */
    public synchronized long atNanos() {
        return atNanos;
    }

    /** Hides all quotas of the request from the client, because of a policy with minimal disclosure. */
    public synchronized void hide() {
        hidden = true;
    }

    /** Returns whether the client must not see any quota of the request, because a policy with minimal disclosure took part. */
    public synchronized boolean areHidden() {
        return hidden;
    }
}
