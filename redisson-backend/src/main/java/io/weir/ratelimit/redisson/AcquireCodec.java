// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;

/** Wire format of {@code acquire.lua}: its argument and its reply. The header of the script describes it. */
final class AcquireCodec {
    private static final int TIME = 7;
    private static final int COST = 6;
    private static final int COUNT = 2;
    private static final int FORM = 1;

    /** Enough for a clock, a limit and a group in short form. */
    private static final int CAPACITY = 32;

    private static final int PLAIN = 0;
    private static final int OTHER = 2;

    private static final int SAME_LIMITS = 0;
    private static final int SEVERAL_KEYS = 2;

    private static final int SHORT_GROUP_OF_ONE = 1;
    private static final int SHORT_GROUP = 2;
    private static final int SPEND = 3;
    private static final int PEEK = 4;

    /** The counts that stand for a key with a foreign value, for one request and for several. */
    private static final int FOREIGN = 255;

    private static final int FOREIGN_GROUP = 65_535;

    /** The counts that stand for a blocked key. */
    private static final int BLOCKED = 254;

    private static final int BLOCKED_GROUP = 65_534;

    private AcquireCodec() {}

    /**
     * Encodes the argument of {@code acquire.lua} for a batch without calendar limits.
     *
     * @param nowMicros the instant of the decision in microseconds, 0 for Redis's clock
     */
    static byte[] encode(Batch batch, long nowMicros) {
        return encode(batch, nowMicros, nowMicros);
    }

    /**
     * Encodes the argument of {@code acquire.lua}.
     *
     * @param nowMicros the instant of the decision in microseconds, 0 for Redis's clock
     * @param expectedMicros the instant that Redis's clock probably shows, by which the periods of calendar limits are selected
     */
    static byte[] encode(Batch batch, long nowMicros, long expectedMicros) {
        MessageBytes out = MessageBytes.withCapacity(CAPACITY + 2 * batch.parts());
        if (batch.isPlain()) {
            putForm(out, PLAIN, nowMicros);
            putPlain(out, batch);
        } else {
            putForm(out, OTHER, nowMicros);
            List<List<Limit>> limits = batch.limits();
            for (int i = 0; i < limits.size(); i++) {
                if (i > 0 && limits.get(i).equals(limits.get(i - 1))) {
                    out.put(SAME_LIMITS, FORM);
                } else {
                    LimitCodec.put(out, limits.get(i), expectedMicros, batch.size());
                }
            }
            List<RequestGroup> groups = batch.groups();
            int knownKeys = 0;
            for (int i = 0; i < groups.size(); i++) {
                knownKeys = putGroup(out, groups.get(i), knownKeys);
            }
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

    /** Puts runs of groups: those with the same limits and one request that spends 1 of each key, or one other group. */
    private static void putPlain(MessageBytes out, Batch batch) {
        List<RequestGroup> groups = batch.groups();
        int end;
        for (int from = 0; from < groups.size(); from = end) {
            RequestGroup group = groups.get(from);
            putLimits(out, batch, from);
            end = from + 1;
            if (!isShort(group)) {
                out.put(group.spends() ? SPEND : PEEK, FORM);
                out.put(group.size(), COUNT);
                List<Charge> charges = group.first().charges;
                for (int i = 0; i < charges.size(); i++) {
                    putCost(out, charges.get(i).cost());
                    putDelays(out, charges.get(i));
                }
            } else if (group.size() > 1) {
                out.put(SHORT_GROUP, FORM);
                out.put(group.size(), COUNT);
            } else {
                while (end < groups.size() && continuesRun(batch, end)) {
                    end++;
                }
                if (end < groups.size()) {
                    out.put(SHORT_GROUP_OF_ONE, FORM);
                    out.put(end - from, COUNT);
                }
            }
        }
    }

    /** Returns whether a group has the limits of the group before, and one request that spends a cost of 1 without waiting. */
    private static boolean continuesRun(Batch batch, int index) {
        RequestGroup group = batch.groups().get(index);
        return group.size() == 1 && isShort(group) && hasLimitsOfGroupBefore(batch, index);
    }

    private static boolean hasLimitsOfGroupBefore(Batch batch, int index) {
        RequestGroup group = batch.groups().get(index);
        RequestGroup before = batch.groups().get(index - 1);
        if (group.keyCount() != before.keyCount()) {
            return false;
        }
        for (int i = 0; i < group.keyCount(); i++) {
            if (!batch.limits().get(group.keyIndex(i)).equals(batch.limits().get(before.keyIndex(i)))) {
                return false;
            }
        }
        return true;
    }

    /** Puts the limits of a group of a plain batch. */
    private static void putLimits(MessageBytes out, Batch batch, int index) {
        if (index > 0 && hasLimitsOfGroupBefore(batch, index)) {
            out.put(SAME_LIMITS, FORM);
            return;
        }
        RequestGroup group = batch.groups().get(index);
        int keys = group.keyCount();
        if (keys > 1) {
            out.put(SEVERAL_KEYS, FORM);
            out.put(keys, COUNT);
            int length = 0;
            for (int i = 0; i < keys; i++) {
                length += LimitCodec.size(batch.limits().get(group.keyIndex(i)));
            }
            out.put(length, COUNT);
        }
        for (int i = 0; i < keys; i++) {
            LimitCodec.put(out, batch.limits().get(group.keyIndex(i)), 0, 0);
        }
    }

    /**
     * Puts a group of a batch that is not plain.
     *
     * @param knownKeys the number of keys of the groups before
     * @return the number of keys of these groups and this one
     */
    private static int putGroup(MessageBytes out, RequestGroup group, int knownKeys) {
        if (isShort(group) && hasNextKeys(group, knownKeys)) {
            if (group.size() == 1 && group.keyCount() == 1) {
                out.put(SHORT_GROUP_OF_ONE, FORM);
            } else {
                out.put(SHORT_GROUP, FORM);
                out.put(group.size(), COUNT);
                out.put(group.keyCount(), COUNT);
            }
            return knownKeys + group.keyCount();
        }
        out.put(group.spends() ? SPEND : PEEK, FORM);
        out.put(group.size(), COUNT);
        out.put(group.keyCount(), COUNT);
        int known = knownKeys;
        List<Charge> charges = group.first().charges;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            out.put(group.keyIndex(i) + 1, COUNT);
            putCost(out, charge.cost());
            putDelays(out, charge);
            known = Math.max(known, group.keyIndex(i) + 1);
        }
        return known;
    }

    /** Puts the longest delay of each limit of a charge. */
    private static void putDelays(MessageBytes out, Charge charge) {
        for (Limit limit : charge.policy().limits()) {
            out.put(LimitState.maxDelayMicros(limit, charge.maxWaitMicros()), COST);
        }
    }

    /** Limits the cost to the least that no limit can hold. */
    static void putCost(MessageBytes out, long cost) {
        out.put(Math.min(cost, Limit.MAX_PERMITS + 1), COST);
    }

    /** Returns whether a group spends a cost of 1 without waiting. */
    private static boolean isShort(RequestGroup group) {
        List<Charge> charges = group.first().charges;
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).cost() != 1 || charges.get(i).maxWaitMicros() != 0) {
                return false;
            }
        }
        return group.spends();
    }

    /** Returns whether the keys of a group follow those of the groups before. */
    private static boolean hasNextKeys(RequestGroup group, int knownKeys) {
        for (int key = 0; key < group.keyCount(); key++) {
            if (group.keyIndex(key) != knownKeys + key) {
                return false;
            }
        }
        return true;
    }

    /** Decodes the reply of {@code acquire.lua} to a batch. */
    static BatchReply decode(Batch batch, byte[] reply) {
        MessageBytes in = MessageBytes.of(reply);
        long now = in.get(TIME);
        List<List<Limit>> limits = batch.limits();
        LimitState[][] states = new LimitState[limits.size()][];
        if (batch.isPlain()) {
            return new BatchReply(now, states, group -> {
                BatchReply.GroupReply groupReply = getGroup(in, group, limits);
                for (int i = 0; i < group.keyCount(); i++) {
                    int key = group.keyIndex(i);
                    states[key] = LimitCodec.getStates(in, limits.get(key), now);
                }
                return groupReply;
            });
        }
        for (int i = 0; i < states.length; i++) {
            states[i] = LimitCodec.getStates(in, limits.get(i), now);
        }
        return new BatchReply(now, states, group -> getGroup(in, group, limits));
    }

    private static BatchReply.GroupReply getGroup(MessageBytes in, RequestGroup group, List<List<Limit>> limits) {
        boolean single = group.size() == 1;
        int allowed = (int) in.get(single ? 1 : COUNT);
        if (allowed == (single ? FOREIGN : FOREIGN_GROUP)) {
            return BatchReply.GroupReply.FOREIGN;
        }
        boolean blocked = allowed == (single ? BLOCKED : BLOCKED_GROUP);
        List<Long> blockEnds = blocked ? new ArrayList<>() : List.of();
        List<Long> entries = null;
        for (int i = 0; i < group.keyCount(); i++) {
            if (blocked) {
                blockEnds.add(in.get(TIME));
            }
            List<Limit> ofKey = limits.get(group.keyIndex(i));
            for (int j = 0; j < ofKey.size(); j++) {
                if (ofKey.get(j).uses(Algorithm.SLIDING_LOG)) {
                    entries = entries == null ? new ArrayList<>() : entries;
                    entries.add(in.get(TIME));
                }
            }
        }
        return new BatchReply.GroupReply(
                false, blocked ? 0 : allowed, blockEnds, entries == null ? List.of() : entries);
    }
}
