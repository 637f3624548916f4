// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.StoredStates;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The parts of concurrency limits in the argument and the reply of {@code acquire.lua}, and the wire format of {@code release.lua}. The
 * headers of the scripts describe them.
 *
 * <p>A slot is identified by the instance, which is a random number, and a number of the instance.
 */
public final class SlotCodec {
    private static final int TIME = 7;
    private static final int NUMBER = 6;
    private static final int COUNT = 2;
    private static final int HAD = 1;
    private static final int FOREIGN = 2;

    private static final long INSTANCE = 1 + new SecureRandom().nextLong(1L << 47);
    private static final AtomicLong NEXT = new AtomicLong(1);

    /** A slot, which ends after the timeout unless it is renewed. */
    public record Slot(String key, long number, long timeoutMicros) {
        /** Returns a slot of a key under a policy with a concurrency limit. */
        public static Slot of(String key, long number, PolicyLimits policy) {
            return new Slot(
                    key, number, policy.limits().get(policy.concurrencyIndex()).windowMicros());
        }
    }

    private SlotCodec() {}

    /**
     * Puts the fields of a concurrency limit after those that all limits have. The number is that of the first slot that the group can take
     * from a key.
     */
    static void put(MessageBytes out, Limit limit, long number) {
        out.put(limit.windowMicros(), TIME);
        out.put(INSTANCE, NUMBER);
        out.put(number, NUMBER);
    }

    /** Returns the first of as many consecutive numbers of this instance, which no other slot has. */
    static long nextNumbers(int count) {
        return NEXT.getAndAdd(count);
    }

    /** Returns the slots that Redis may have given to the requests of a batch, once it is sent. */
    public static List<Slot> of(Batch batch) {
        List<Slot> slots = new ArrayList<>();
        for (RequestGroup group : batch.groups()) {
            AcquireRequest request = group.first();
            for (int i = 0; i < request.charges.size(); i++) {
                long first = group.slotNumber(i);
                for (int j = 0; first > 0 && j < group.size(); j++) {
                    slots.add(Slot.of(
                            request.keys.get(i),
                            first + j,
                            request.charges.get(i).policy()));
                }
            }
        }
        return slots;
    }

    /** Returns the state of a limit as of now. */
    static LimitState get(MessageBytes in) {
        int held = (int) in.get(COUNT);
        long earliest = in.get(TIME);
        return StoredStates.slots(held, earliest, in.get(TIME), in.get(NUMBER));
    }

    /** Encodes the argument of {@code release.lua}, at an instant or by Redis's clock (0). Slots are renewed or released. */
    public static byte[] encode(boolean renews, Collection<List<Slot>> slots, long nowMicros) {
        MessageBytes out = MessageBytes.withCapacity(64 * slots.size());
        AcquireCodec.putForm(out, 0, nowMicros);
        out.put(renews ? 2 : 1, 1);
        for (List<Slot> ofKey : slots) {
            out.put(ofKey.size(), COUNT);
            for (Slot slot : ofKey) {
                out.put(INSTANCE, NUMBER);
                out.put(slot.number(), NUMBER);
                out.put(slot.timeoutMicros(), TIME);
            }
        }
        return out.toArray();
    }

    /** Returns whether the key of the slot with an index in a call of {@code release.lua} contains a foreign value. */
    public static boolean isForeign(byte[] reply, int index) {
        return reply[1 + TIME + index] == FOREIGN;
    }

    /** Returns whether a key had the slot with an index in the call. */
    public static boolean had(byte[] reply, int index) {
        return reply[1 + TIME + index] == HAD;
    }
}
