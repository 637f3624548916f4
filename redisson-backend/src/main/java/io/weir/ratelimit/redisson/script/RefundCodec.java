// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.StoredStates;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.List;

/** Wire format of {@code refund.lua}: its argument and reply. The header of the script describes it. */
public final class RefundCodec {
    /** Enough for a clock and a limit. */
    private static final int CAPACITY = 64;

    /** The outcome of a refund whose keys are all states of limits. */
    private static final int REFUNDED = 1;

    /** A greater cost is more than any limit counts. */
    private static final long MAX_EXACT = 1L << 53;

    private RefundCodec() {}

    /** Encodes the argument of {@code refund.lua} at an instant, or by Redis's clock (0). */
    public static byte[] encode(Refund refund, long nowMicros) {
        MessageBytes out = MessageBytes.withCapacity(CAPACITY);
        AcquireCodec.putForm(out, 0, nowMicros);
        out.put(code(refund.operation()), 1);
        if (!refund.receipt().isEmpty()) {
            refund.receipt().forEach(charged -> put(out, charged.charge(), charged.states()));
        } else {
            refund.charges().forEach(charge -> put(out, charge, List.of()));
        }
        return out.toArray();
    }

    private static int code(Refund.Operation operation) {
        return switch (operation) {
            case BY_RECEIPT -> 1;
            case BY_COST -> 2;
            case RESET -> 3;
            case RAISE -> 4;
        };
    }

    private static void put(MessageBytes out, Charge charge, List<LimitState> charged) {
        List<Limit> limits = charge.policy().limits();
        out.put(Math.min(charge.cost(), MAX_EXACT), 7);
        out.put(charge.policy().hasConcurrency() ? limits.size() - 1 : limits.size(), 2);
        for (int i = 0; i < limits.size(); i++) {
            if (i == charge.policy().concurrencyIndex()) {
                continue; // release.lua releases slots
            }
            LimitCodec.put(out, limits.get(i), 0, 0, 0);
            if (!charged.isEmpty()) {
                StoredStates.charged(charged.get(i), (first, second, third) -> {
                    out.put(first, 7);
                    out.put(second, 7);
                    out.put(third, 6);
                });
            }
        }
    }

    /** Checks the reply of {@code refund.lua}. Throws a {@link io.weir.ratelimit.spi.BackendException} if a key contains a foreign value. */
    public static void check(byte[] reply) {
        if (reply[0] != REFUNDED) {
            throw Batch.foreignState();
        }
    }
}
