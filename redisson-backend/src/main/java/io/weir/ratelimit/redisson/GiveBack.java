// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

/**
 * What {@code give-back.lua} is asked for.
 *
 * @param operation by receipt, by cost, or all of it
 * @param charges what was charged, all of it in one slot
 * @param states of a receipt, the state of each limit right after the charge; else none
 */
record GiveBack(int operation, List<Charge> charges, List<LimitState> states) {
    private static final int BY_RECEIPT = 1;
    private static final int BY_COST = 2;
    private static final int ALL = 3;
    private static final int HEADER = 8;
    private static final int COST = 6;
    private static final int NOW = 7;

    /** One for each slot. */
    static List<GiveBack> ofReceipt(List<BackendReceipt.Entry> entries, ToIntFunction<Charge> slots) {
        Map<Integer, GiveBack> bySlot = new LinkedHashMap<>();
        for (BackendReceipt.Entry entry : entries) {
            GiveBack part = bySlot.computeIfAbsent(
                    slots.applyAsInt(entry.charge()),
                    slot -> new GiveBack(BY_RECEIPT, new ArrayList<>(), new ArrayList<>()));
            part.charges.add(entry.charge());
            part.states.addAll(entry.states());
        }
        return List.copyOf(bySlot.values());
    }

    /** Of one charge with the state of each of its limits right after it. */
    static GiveBack ofReceipt(Charge charge, List<LimitState> states) {
        return new GiveBack(BY_RECEIPT, List.of(charge), states);
    }

    static GiveBack ofCost(Charge charge) {
        return new GiveBack(BY_COST, List.of(charge), List.of());
    }

    static GiveBack ofAll(Charge charge) {
        return new GiveBack(ALL, List.of(charge), List.of());
    }

    byte[] argument(long nowMicros) {
        int limits = charges.stream()
                .mapToInt(charge -> charge.policy().limits().size())
                .sum();
        Message out = Message.ofSize(HEADER + (Message.LIMIT + COST) * limits + Message.STATE * states.size());
        out.put(nowMicros, NOW);
        out.put(operation, 1);
        int i = 0;
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                out.put(limit);
                out.putCost(charge.cost());
                if (operation == BY_RECEIPT) {
                    out.put(states.get(i));
                }
                i++;
            }
        }
        return out.bytes();
    }

    static void checkReply(byte[] reply) {
        if (reply[0] != 1) {
            throw Flight.foreign();
        }
    }
}
