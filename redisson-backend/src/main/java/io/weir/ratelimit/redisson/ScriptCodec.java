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

/**
 * Wire format of {@code acquire.lua} and {@code refund.lua}: their argument and their reply. The headers of the scripts describe it. All
 * numbers are unsigned and big-endian.
 */
final class ScriptCodec {
    private static final int TIME = 7;
    private static final int LIMIT = 27;
    private static final int STATE = 20;
    private static final int COST = 6;
    private static final int COUNT = 2;
    private static final int OPERATION = 1;
    private static final int GROUP = OPERATION + 2 * COUNT;
    private static final int PART = COUNT + 2 * COST;

    /** The count that stands for a key with a foreign value. */
    private static final int FOREIGN = 65_535;

    /** The outcome of a refund whose keys are all states of limits. */
    private static final int REFUNDED = 1;

    private final byte[] bytes;
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
        List<Limit> limits = batch.limits();
        List<RequestGroup> groups = batch.groups();
        ScriptCodec out =
                new ScriptCodec(new byte[TIME + LIMIT * limits.size() + GROUP * groups.size() + PART * batch.parts()]);
        out.put(nowMicros, TIME);
        for (int i = 0; i < limits.size(); i++) {
            out.put(limits.get(i));
        }
        for (int i = 0; i < groups.size(); i++) {
            out.put(groups.get(i));
        }
        return out.bytes;
    }

    private void put(RequestGroup group) {
        put(group.spends() ? 1 : 0, OPERATION);
        put(group.size(), COUNT);
        put(group.keyCount(), COUNT);
        int key = 0;
        for (Charge charge : group.first().charges) {
            for (Limit limit : charge.policy().limits()) {
                put(group.keyIndex(key) + 1, COUNT);
                putCost(charge.cost());
                put(LimitState.maxDelayMicros(limit, charge.maxWaitMicros()), COST);
                key++;
            }
        }
    }

    /** Decodes the reply of {@code acquire.lua} to a batch. */
    static BatchReply decode(Batch batch, byte[] reply) {
        ScriptCodec in = new ScriptCodec(reply);
        long now = in.get(TIME);
        List<Limit> limits = batch.limits();
        LimitState[] states = new LimitState[limits.size()];
        for (int i = 0; i < states.length; i++) {
            states[i] = in.getState(limits.get(i));
        }
        return new BatchReply(now, states, group -> in.getGroup(group, limits));
    }

    private BatchReply.GroupReply getGroup(RequestGroup group, List<Limit> limits) {
        int allowed = (int) get(COUNT);
        if (allowed == FOREIGN) {
            return BatchReply.GroupReply.FOREIGN;
        }
        List<Long> entries = null;
        for (int i = 0; i < group.keyCount(); i++) {
            if (limits.get(group.keyIndex(i)).algorithm() == Algorithm.SLIDING_LOG) {
                entries = entries == null ? new ArrayList<>() : entries;
                entries.add(get(TIME));
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
        int limits = 0;
        for (Charge charge : refund.charges()) {
            limits += charge.policy().limits().size();
        }
        boolean byReceipt = refund.operation() == Refund.Operation.BY_RECEIPT;
        ScriptCodec out =
                new ScriptCodec(new byte[TIME + OPERATION + (LIMIT + COST + (byReceipt ? STATE : 0)) * limits]);
        out.put(nowMicros, TIME);
        out.put(code(refund.operation()), OPERATION);
        if (byReceipt) {
            refund.receipt().forEach(charged -> out.putRefund(charged.charge(), charged.states()));
        } else {
            refund.charges().forEach(charge -> out.putRefund(charge, List.of()));
        }
        return out.bytes;
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
        for (int i = 0; i < limits.size(); i++) {
            put(limits.get(i));
            putCost(charge.cost());
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

    private void put(Limit limit) {
        put(limit.algorithm().letter(), 1);
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

    private LimitState getState(Limit limit) {
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
