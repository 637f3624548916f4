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
import java.util.Arrays;
import java.util.List;

/**
 * Wire format of {@code acquire.lua} and {@code refund.lua}: their argument and their reply. The headers of the scripts describe it. All
 * numbers are unsigned and big-endian.
 */
final class ScriptCodec {
    private static final int TIME = 7;
    private static final int COST = 6;
    private static final int COUNT = 2;
    private static final int FORM = 1;
    private static final int OPERATION = 1;

    /** Enough for a clock, a limit and a group in short form. */
    private static final int CAPACITY = 32;

    private static final int SAME_LIMITS = 0;
    private static final int SEVERAL_LIMITS = 1;
    private static final int LONG_LIMIT = 128;

    /** Permits of a limit in short form are less. */
    private static final long SHORT_PERMITS = 1L << 32;

    private static final int SHORT_GROUP_OF_ONE = 1;
    private static final int SHORT_GROUP = 2;
    private static final int SPEND = 3;
    private static final int PEEK = 4;

    /** The count that stands for a key with a foreign value. */
    private static final int FOREIGN = 65_535;

    /** The outcome of a refund whose keys are all states of limits. */
    private static final int REFUNDED = 1;

    private byte[] bytes;
    private int position;

    private ScriptCodec(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Encodes the argument of {@code acquire.lua}.
     *
     * @param nowMicros the instant of the decision in microseconds, 0 for Redis's clock
     */
    static byte[] encode(Batch batch, long nowMicros) {
        ScriptCodec out = new ScriptCodec(new byte[CAPACITY + 2 * batch.parts()]);
        out.putClock(nowMicros);
        List<List<Limit>> limits = batch.limits();
        for (int i = 0; i < limits.size(); i++) {
            if (i > 0 && limits.get(i).equals(limits.get(i - 1))) {
                out.put(SAME_LIMITS, FORM);
            } else {
                out.putLimits(limits.get(i));
            }
        }
        List<RequestGroup> groups = batch.groups();
        int knownKeys = 0;
        for (int i = 0; i < groups.size(); i++) {
            knownKeys = out.put(groups.get(i), knownKeys);
        }
        return out.encoded();
    }

    private byte[] encoded() {
        return position == bytes.length ? bytes : Arrays.copyOf(bytes, position);
    }

    private void putClock(long nowMicros) {
        put(nowMicros == 0 ? 0 : 1, FORM);
        if (nowMicros != 0) {
            put(nowMicros, TIME);
        }
    }

    private void putLimits(List<Limit> limits) {
        if (limits.size() > 1) {
            put(SEVERAL_LIMITS, FORM);
            put(limits.size(), COUNT);
        }
        for (int i = 0; i < limits.size(); i++) {
            Limit limit = limits.get(i);
            if (hasShortForm(limit)) {
                putShort(limit);
            } else {
                put(LONG_LIMIT + limit.algorithm().letter(), FORM);
                putValues(limit);
            }
        }
    }

    /** Returns whether a limit has a short form: few permits, no burst of its own and no max-wait. */
    static boolean hasShortForm(Limit limit) {
        return limit.permits() < SHORT_PERMITS && limit.capacity() == limit.permits() && limit.maxDelayMicros() == 0;
    }

    private void putShort(Limit limit) {
        put(limit.algorithm().letter(), FORM);
        put(limit.permits(), 4);
        put(limit.windowUnits(), 6);
        put(limit.unitExponent(), 1);
    }

    /**
     * Encodes a group.
     *
     * @param knownKeys the number of keys of the groups before
     * @return the number of keys of these groups and this one
     */
    private int put(RequestGroup group, int knownKeys) {
        if (hasShortForm(group, knownKeys)) {
            if (group.size() == 1 && group.keyCount() == 1) {
                put(SHORT_GROUP_OF_ONE, FORM);
            } else {
                put(SHORT_GROUP, FORM);
                put(group.size(), COUNT);
                put(group.keyCount(), COUNT);
            }
            return knownKeys + group.keyCount();
        }
        put(group.spends() ? SPEND : PEEK, FORM);
        put(group.size(), COUNT);
        put(group.keyCount(), COUNT);
        int known = knownKeys;
        List<Charge> charges = group.first().charges;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            put(group.keyIndex(i) + 1, COUNT);
            putCost(charge.cost());
            for (Limit limit : charge.policy().limits()) {
                put(LimitState.maxDelayMicros(limit, charge.maxWaitMicros()), COST);
            }
            known = Math.max(known, group.keyIndex(i) + 1);
        }
        return known;
    }

    /** Returns whether a group has a short form: it spends a cost of 1 without waiting, on the keys that follow those of the groups before. */
    private static boolean hasShortForm(RequestGroup group, int knownKeys) {
        for (int key = 0; key < group.keyCount(); key++) {
            if (group.keyIndex(key) != knownKeys + key) {
                return false;
            }
        }
        List<Charge> charges = group.first().charges;
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).cost() != 1 || charges.get(i).maxWaitMicros() != 0) {
                return false;
            }
        }
        return group.spends();
    }

    /** Decodes the reply of {@code acquire.lua} to a batch. */
    static BatchReply decode(Batch batch, byte[] reply) {
        ScriptCodec in = new ScriptCodec(reply);
        long now = in.get(TIME);
        List<List<Limit>> limits = batch.limits();
        LimitState[][] states = new LimitState[limits.size()][];
        for (int i = 0; i < states.length; i++) {
            states[i] = in.getStates(limits.get(i), now);
        }
        return new BatchReply(now, states, group -> in.getGroup(group, limits));
    }

    private BatchReply.GroupReply getGroup(RequestGroup group, List<List<Limit>> limits) {
        int allowed = (int) get(COUNT);
        if (allowed == FOREIGN) {
            return BatchReply.GroupReply.FOREIGN;
        }
        List<Long> entries = null;
        for (int i = 0; i < group.keyCount(); i++) {
            List<Limit> ofKey = limits.get(group.keyIndex(i));
            for (int j = 0; j < ofKey.size(); j++) {
                if (ofKey.get(j).algorithm() == Algorithm.SLIDING_LOG) {
                    entries = entries == null ? new ArrayList<>() : entries;
                    entries.add(get(TIME));
                }
            }
        }
        return new BatchReply.GroupReply(false, allowed, entries == null ? List.of() : entries);
    }

    /**
     * Encodes the argument of {@code refund.lua}.
     *
     * @param nowMicros the instant of the refund in microseconds, 0 for Redis's clock
     */
    static byte[] encode(Refund refund, long nowMicros) {
        ScriptCodec out = new ScriptCodec(new byte[CAPACITY]);
        out.putClock(nowMicros);
        out.put(code(refund.operation()), OPERATION);
        if (refund.operation() == Refund.Operation.BY_RECEIPT) {
            refund.receipt().forEach(charged -> out.putRefund(charged.charge(), charged.states()));
        } else {
            refund.charges().forEach(charge -> out.putRefund(charge, List.of()));
        }
        return out.encoded();
    }

    private static int code(Refund.Operation operation) {
        return switch (operation) {
            case BY_RECEIPT -> 1;
            case BY_COST -> 2;
            case RESET -> 3;
        };
    }

    private void putRefund(Charge charge, List<LimitState> charged) {
        List<Limit> limits = charge.policy().limits();
        putCost(charge.cost());
        put(limits.size(), COUNT);
        for (int i = 0; i < limits.size(); i++) {
            put(limits.get(i).algorithm().letter(), 1);
            putValues(limits.get(i));
            if (!charged.isEmpty()) {
                putState(charged.get(i));
            }
        }
    }

    /** Decodes the reply of {@code refund.lua}: false if a key contains a foreign value. */
    static boolean decodeRefund(byte[] reply) {
        return reply[0] == REFUNDED;
    }

    private void put(long value, int width) {
        if (position + width > bytes.length) {
            bytes = Arrays.copyOf(bytes, 2 * bytes.length);
        }
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
            bytes[position] = (byte) (value >> shift);
            position++;
        }
    }

    private long get(int width) {
        long value = 0;
        for (int i = 0; i < width; i++) {
            value = value << 8 | (bytes[position] & 0xff);
            position++;
        }
        return value;
    }

    /** Encodes the fields of a limit after its letter, in long form. */
    private void putValues(Limit limit) {
        put(limit.permits(), 6);
        put(limit.windowUnits(), 6);
        put(limit.unitExponent(), 1);
        put(limit.capacity(), 6);
        put(TokenBucketState.maxDebt(limit), 7);
    }

    /** Limits the cost to the least that no limit can hold. */
    private void putCost(long cost) {
        put(Math.min(cost, Limit.MAX_PERMITS + 1), COST);
    }

    private void putState(LimitState state) {
        if (state instanceof FixedWindowState window) {
            putState(window.startMicros(), window.spent(), 0);
        } else if (state instanceof SlidingWindowState window) {
            putState(window.startMicros(), window.current(), window.previous());
        } else if (state instanceof TokenBucketState bucket) {
            putState(bucket.anchorMicros(), bucket.debt(), bucket.unitExponent());
        } else if (state instanceof SlidingLogState log) {
            putState(log.newestMicros(), 0, 0);
        }
    }

    private void putState(long a, long b, long c) {
        put(a, 7);
        put(b, 7);
        put(c, 6);
    }

    private LimitState[] getStates(List<Limit> limits, long now) {
        LimitState[] states = new LimitState[limits.size()];
        for (int i = 0; i < states.length; i++) {
            states[i] = getState(limits.get(i), now);
        }
        return states;
    }

    private LimitState getState(Limit limit, long now) {
        if (!hasShortForm(limit)) {
            return getLongState(limit);
        }
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> new FixedWindowState(now - get(6), get(4));
            case SLIDING_WINDOW -> new SlidingWindowState(now - get(6), get(4), get(4));
            case TOKEN_BUCKET, LEAKY_BUCKET -> new TokenBucketState(now - get(3), get(7), limit.unitExponent());
            case SLIDING_LOG -> getLongState(limit);
        };
    }

    private LimitState getLongState(Limit limit) {
        long a = get(7);
        long b = get(7);
        long c = get(6);
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> new FixedWindowState(a, b);
            case SLIDING_WINDOW -> new SlidingWindowState(a, b, c);
            case SLIDING_LOG -> SlidingLogState.summary(limit, c, a, b, 0, 0);
            case TOKEN_BUCKET, LEAKY_BUCKET -> new TokenBucketState(a, b, (int) c);
        };
    }
}
