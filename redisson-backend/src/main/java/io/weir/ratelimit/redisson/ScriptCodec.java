// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.SlidingLogState;
import io.weir.ratelimit.core.limit.SlidingWindowState;
import io.weir.ratelimit.core.limit.TokenBucketState;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;

/** Wire format of {@code acquire.lua}: its argument and its reply. The header of the script describes it. */
final class ScriptCodec {
    private static final int TIME = 7;
    private static final int COST = 6;
    private static final int COUNT = 2;
    private static final int FORM = 1;

    /** Enough for a clock, a limit and a group in short form. */
    private static final int CAPACITY = 32;

    private static final int PLAIN = 0;
    private static final int OTHER = 2;

    private static final int SAME_LIMITS = 0;
    private static final int SEVERAL_LIMITS = 1;
    private static final int SEVERAL_KEYS = 2;
    private static final int LONG_LIMIT = 128;
    private static final int SHORT_LIMIT_BYTES = 12;
    private static final int LONG_LIMIT_BYTES = 27;
    private static final int SEVERAL_LIMITS_BYTES = 5;

    /** Permits of a limit in short form are less, so that twice as many, which count after a settlement, take four bytes. */
    private static final long SHORT_PERMITS = 1L << 31;

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

    /** The forms of the state of a window. */
    private static final int UNTOUCHED = 0;

    private static final int CURRENT_ONLY = 1;
    private static final int SMALL_COUNTS = 2;

    private ScriptCodec() {}

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
                    putLimits(out, limits.get(i), expectedMicros);
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
                List<Limit> limits = batch.limits().get(group.keyIndex(i));
                length += length(limits) + (limits.size() > 1 ? SEVERAL_LIMITS_BYTES : 0);
            }
            out.put(length, COUNT);
        }
        for (int i = 0; i < keys; i++) {
            putLimits(out, batch.limits().get(group.keyIndex(i)), 0);
        }
    }

    /** Returns the bytes of limits. */
    private static int length(List<Limit> limits) {
        int length = 0;
        for (int i = 0; i < limits.size(); i++) {
            length += size(limits.get(i));
        }
        return length;
    }

    /** Puts the limits of a key. */
    private static void putLimits(MessageBytes out, List<Limit> limits, long expectedMicros) {
        if (limits.size() > 1) {
            out.put(SEVERAL_LIMITS, FORM);
            out.put(limits.size(), COUNT);
            out.put(length(limits), COUNT);
        }
        for (int i = 0; i < limits.size(); i++) {
            Limit limit = limits.get(i);
            if (limit.period().isPresent()) {
                CalendarCodec.put(out, limit, limit.period().get(), expectedMicros);
            } else if (hasShortForm(limit)) {
                putShort(out, limit);
            } else {
                out.put(LONG_LIMIT + limit.algorithm().letter(), FORM);
                putValues(out, limit);
            }
        }
    }

    private static int size(Limit limit) {
        return limit.period().isPresent()
                ? CalendarCodec.BYTES
                : hasShortForm(limit) ? SHORT_LIMIT_BYTES : LONG_LIMIT_BYTES;
    }

    /** Returns whether a limit has a short form: few permits, no burst of its own and no max-wait. */
    static boolean hasShortForm(Limit limit) {
        return limit.permits() < SHORT_PERMITS && limit.capacity() == limit.permits() && limit.maxDelayMicros() == 0;
    }

    private static void putShort(MessageBytes out, Limit limit) {
        out.put(limit.algorithm().letter(), FORM);
        out.put(limit.permits(), 4);
        out.put(limit.windowUnits(), 6);
        out.put(limit.unitExponent(), 1);
    }

    /** Puts the fields of a limit after its letter, in long form. */
    static void putValues(MessageBytes out, Limit limit) {
        out.put(limit.permits(), 6);
        out.put(limit.windowUnits(), 6);
        out.put(limit.unitExponent(), 1);
        out.put(limit.capacity(), 6);
        out.put(TokenBucketState.maxDebt(limit), 7);
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
                    states[key] = getStates(in, limits.get(key), now);
                }
                return groupReply;
            });
        }
        for (int i = 0; i < states.length; i++) {
            states[i] = getStates(in, limits.get(i), now);
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
                if (ofKey.get(j).algorithm() == Algorithm.SLIDING_LOG) {
                    entries = entries == null ? new ArrayList<>() : entries;
                    entries.add(in.get(TIME));
                }
            }
        }
        return new BatchReply.GroupReply(
                false, blocked ? 0 : allowed, blockEnds, entries == null ? List.of() : entries);
    }

    private static LimitState[] getStates(MessageBytes in, List<Limit> limits, long now) {
        LimitState[] states = new LimitState[limits.size()];
        for (int i = 0; i < states.length; i++) {
            states[i] = getState(in, limits.get(i), now);
        }
        return states;
    }

    private static LimitState getState(MessageBytes in, Limit limit, long now) {
        if (limit.period().isPresent()) {
            return CalendarCodec.get(in, limit);
        }
        if (!hasShortForm(limit) || limit.algorithm() == Algorithm.SLIDING_LOG) {
            return getLongState(in, limit);
        }
        int form = (int) in.get(FORM);
        return switch (limit.algorithm()) {
            case FIXED_WINDOW, SLIDING_WINDOW -> getWindow(in, limit, form, now);
            default ->
                form == UNTOUCHED
                        ? new TokenBucketState(now, 0, limit.unitExponent())
                        : bucket(limit, now - in.get(3), in.get(7), limit.unitExponent());
        };
    }

    private static LimitState getWindow(MessageBytes in, Limit limit, int form, long now) {
        boolean small = form == CURRENT_ONLY || form == SMALL_COUNTS;
        long start = form == UNTOUCHED ? now : now - in.get(small ? 5 : 6);
        long current = form == UNTOUCHED ? 0 : in.get(small ? 2 : 4);
        long previous = form <= CURRENT_ONLY ? 0 : in.get(small ? 2 : 4);
        return window(limit, start, current, previous);
    }

    /** Returns the state of a window as of now. Only a debt counts more than the permits. */
    private static LimitState window(Limit limit, long start, long current, long previous) {
        boolean inDebt = current > limit.permits() || previous > limit.permits();
        return limit.algorithm() == Algorithm.FIXED_WINDOW
                ? new FixedWindowState(start, current, inDebt)
                : new SlidingWindowState(start, current, previous, inDebt);
    }

    private static LimitState bucket(Limit limit, long anchor, long debt, int unitExponent) {
        return new TokenBucketState(anchor, debt, unitExponent, debt > TokenBucketState.maxDebt(limit));
    }

    private static LimitState getLongState(MessageBytes in, Limit limit) {
        long a = in.get(7);
        long b = in.get(7);
        long c = in.get(6);
        return switch (limit.algorithm()) {
            case FIXED_WINDOW, SLIDING_WINDOW -> window(limit, a, b, c);
            case SLIDING_LOG -> SlidingLogState.summary(limit, c, a, b, 0, 0);
            case TOKEN_BUCKET, LEAKY_BUCKET -> bucket(limit, a, b, (int) c);
        };
    }
}
