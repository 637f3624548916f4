// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.request;

import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The charges of one request that can be settled: of each policy, at least the latest {@value #LATEST} ones. Of earlier ones, only the sum
 * of the costs is known: they stay as they were reserved. So neither the memory of a request nor its settlement grows with its calls.
 */
public final class ReservedCharges {
    /** The charges of one policy that can be settled. */
    public static final int LATEST = 100;

    private List<ChargeReceipt> receipts = List.of();

    /** The number of receipts at which the earlier ones are removed. */
    private int full = 2 * LATEST;

    /** The costs of removed charges that were not settled, by policy. */
    private Map<String, Long> earlier = Map.of();

    /** A charge that is not settled. */
    public record Reserved(Receipt receipt, Charge charge) {}

    /** The latest charges under one policy, in the order of their decisions, and the cost of those before. */
    public record OfPolicy(List<Reserved> charges, long earlierCost) {}

    ReservedCharges() {}

    synchronized void add(Receipt receipt) {
        if (receipt instanceof ChargeReceipt known) {
            receipts = receipts.isEmpty() ? new ArrayList<>(1) : receipts;
            receipts.add(known);
            if (receipts.size() >= full) {
                removeEarlier();
                full = receipts.size() + 2 * LATEST;
            }
        }
    }

    private void removeEarlier() {
        Map<String, Integer> counts = new HashMap<>();
        List<ChargeReceipt> kept = new ArrayList<>();
        Map<String, Long> sums = new HashMap<>(earlier);
        for (int i = receipts.size() - 1; i >= 0; i--) {
            List<Charge> open = unsettled(receipts.get(i));
            boolean isLatest = false;
            for (Charge charge : open) {
                isLatest |= counts.merge(charge.policy().policy(), 1, Integer::sum) <= LATEST;
            }
            if (isLatest) {
                kept.add(receipts.get(i));
            } else {
                receipts.get(i)
                        .charges()
                        .forEach(charge -> sums.putIfAbsent(charge.policy().policy(), 0L));
                open.forEach(charge -> sums.merge(charge.policy().policy(), charge.cost(), Long::sum));
            }
        }
        Collections.reverse(kept);
        receipts = kept;
        earlier = sums;
    }

    /** Tests whether there is a charge under a policy, settled or not. */
    public synchronized boolean contains(String policy) {
        return earlier.containsKey(policy)
                || receipts.stream()
                        .flatMap(receipt -> receipt.charges().stream())
                        .anyMatch(charge -> charge.policy().policy().equals(policy));
    }

    /** Returns the charges under a policy. The earlier ones are settled with that. */
    public synchronized OfPolicy take(String policy) {
        List<Reserved> charges = new ArrayList<>();
        for (ChargeReceipt receipt : receipts) {
            for (Charge charge : unsettled(receipt)) {
                if (charge.policy().policy().equals(policy)) {
                    charges.add(new Reserved(receipt, charge));
                }
            }
        }
        Long sum = earlier.isEmpty() ? null : earlier.replace(policy, 0L);
        return new OfPolicy(charges, sum == null ? 0 : sum);
    }

    private static List<Charge> unsettled(ChargeReceipt receipt) {
        return receipt instanceof BackendReceipt spent ? spent.unsettled() : receipt.charges();
    }
}
