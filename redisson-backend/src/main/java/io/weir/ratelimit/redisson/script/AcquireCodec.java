// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;

/** Wire format of {@code acquire.lua}: its argument and its reply. The header of the script describes it. */
public final class AcquireCodec {
    private static final int TIME = 7;
    private static final int COST = 6;
    private static final int COUNT = 2;
    private static final int FORM = 1;

    /** Enough for a clock and a run of groups with one limit. */
    private static final int CAPACITY = 64;

    /** The form of a message with bounds of calendar periods; 0 without them. */
    private static final int WITH_PERIODS = 2;

    /** The count that stands for a key with a foreign value. */
    private static final int FOREIGN = 65_535;

    /** The count that stands for a blocked key. */
    private static final int BLOCKED = 65_534;

    private AcquireCodec() {}

    /** Encodes the argument of {@code acquire.lua} for a batch without calendar limits, at an instant or by Redis's clock (0). */
    public static byte[] encode(Batch batch, long nowMicros) {
        return encode(batch, nowMicros, nowMicros);
    }

    /**
     * Encodes the argument of {@code acquire.lua}, at an instant or by Redis's clock (0). The expected instant selects the periods of
     * calendar limits.
     */
    public static byte[] encode(Batch batch, long nowMicros, long expectedMicros) {
        MessageBytes out = MessageBytes.withCapacity(CAPACITY);
        putForm(out, batch.hasCalendarLimit() ? WITH_PERIODS : 0, nowMicros);
        if (batch.hasCalendarLimit()) {
            CalendarCodec.putBounds(out, batch.groups(), expectedMicros);
        }
        List<RequestGroup> groups = batch.groups();
        int end;
        for (int from = 0; from < groups.size(); from = end) {
            RequestGroup group = groups.get(from);
            end = from + 1;
            while (end < groups.size() && groups.get(end).differsInKeysOnly(group)) {
                end++;
            }
            out.put(end - from, COUNT);
            putGroup(out, group, expectedMicros);
        }
        return out.toArray();
    }

    /** Puts the form of a message, with the instant unless it is 0. */
    static void putForm(MessageBytes out, int form, long nowMicros) {
        out.put(nowMicros == 0 ? form : form + 1, FORM);
        if (nowMicros != 0) {
            out.put(nowMicros, TIME);
        }
    }

    private static void putGroup(MessageBytes out, RequestGroup group, long expectedMicros) {
        List<Charge> charges = group.first().charges;
        out.put(charges.size(), COUNT);
        out.put(group.spends() ? group.size() : 0, COUNT);
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            List<Limit> limits = charge.policy().limits();
            // More than this no limit can hold.
            out.put(Math.min(charge.cost(), Limit.MAX_PERMITS + 1), COST);
            out.put(limits.size(), COUNT);
            for (int j = 0; j < limits.size(); j++) {
                long slot = j == charge.policy().concurrencyIndex() ? group.takeSlotNumbers(i) : 0;
                LimitCodec.put(out, limits.get(j), charge.maxWaitMicros(), expectedMicros, slot);
            }
        }
    }

    /** Decodes the reply of {@code acquire.lua} to a batch. */
    public static BatchReply decode(byte[] reply) {
        MessageBytes in = MessageBytes.of(reply);
        long now = in.get(TIME);
        return new BatchReply(now, group -> getGroup(in, group, now));
    }

    private static BatchReply.GroupReply getGroup(MessageBytes in, RequestGroup group, long now) {
        int allowed = (int) in.get(COUNT);
        if (allowed == FOREIGN) {
            return BatchReply.GroupReply.FOREIGN;
        }
        boolean blocked = allowed == BLOCKED;
        List<Charge> charges = group.first().charges;
        List<LimitState[]> states = new ArrayList<>(charges.size());
        List<Long> blockEnds = blocked ? new ArrayList<>() : List.of();
        List<Long> entries = group.hasLog() ? new ArrayList<>() : List.of();
        for (int i = 0; i < charges.size(); i++) {
            if (blocked) {
                blockEnds.add(in.get(TIME));
            }
            List<Limit> limits = charges.get(i).policy().limits();
            LimitState[] ofKey = new LimitState[limits.size()];
            for (int j = 0; j < limits.size(); j++) {
                ofKey[j] = LimitCodec.get(in, limits.get(j), now, entries);
            }
            states.add(ofKey);
        }
        return new BatchReply.GroupReply(false, blocked ? 0 : allowed, states, blockEnds, entries);
    }
}
