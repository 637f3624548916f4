// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.SlidingWindowState;
import io.weir.ratelimit.spi.TokenBucketState;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * What goes to a script and comes back for some charges, in the binary form that {@code state.lua} describes.
 *
 * @param charges the charges
 * @param keys one key per limit
 */
record ScriptCall(List<Charge> charges, List<Object> keys) {
    static final byte PEEK = 0;
    static final byte SPEND = 1;
    static final byte GIVE_BACK_RECEIPT = 1;
    static final byte GIVE_BACK_COST = 2;
    static final byte DROP = 3;

    /** More than any limit holds, and the most that fits into six bytes. */
    private static final long OUT_OF_REACH = Limit.MAX_PERMITS + 1;

    private static final int HEADER = 8;
    private static final int LIMIT = 26;
    private static final int STATE = 20;
    private static final byte DONE = 1;
    private static final byte FOREIGN = 2;

    /** The keys of the charges: {@code weir:1:{<namespace>:<identity>}:<policy>:<letter><window in ms>}. */
    static ScriptCall of(String namespace, List<Charge> charges) {
        List<Object> keys = new ArrayList<>(charges.size());
        for (Charge charge : charges) {
            String head = "weir:1:{" + namespace + ":" + charge.identity() + "}:";
            for (int i = 0; i < charge.policy().limits().size(); i++) {
                keys.add(head + charge.policy().keyTail(i));
            }
        }
        return new ScriptCall(charges, keys);
    }

    /** The first argument of a script. */
    byte[] arguments(byte operation, long nowMicros) {
        ByteBuffer out = ByteBuffer.allocate(HEADER + LIMIT * keys.size());
        out.put(operation);
        put(out, nowMicros, 7);
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                out.put((byte) limit.algorithm().letter());
                put(out, limit.permits(), 6);
                put(out, limit.windowUnits(), 6);
                out.put((byte) limit.unitExponent());
                put(out, limit.capacity(), 6);
                put(out, Math.min(charge.cost(), OUT_OF_REACH), 6);
            }
        }
        return out.array();
    }

    /** The second argument of giving back by receipt. */
    static byte[] states(List<LimitState> states) {
        ByteBuffer out = ByteBuffer.allocate(STATE * states.size());
        for (LimitState state : states) {
            if (state instanceof FixedWindowState window) {
                put(out, window.startMicros(), 7);
                put(out, window.spent(), 7);
                put(out, 0, 6);
            } else if (state instanceof SlidingWindowState window) {
                put(out, window.startMicros(), 7);
                put(out, window.current(), 7);
                put(out, window.previous(), 6);
            } else if (state instanceof TokenBucketState bucket) {
                put(out, bucket.anchorMicros(), 7);
                put(out, bucket.debt(), 7);
                put(out, bucket.unitExponent(), 6);
            }
        }
        return out.array();
    }

    /** The decision that a reply of the acquire script stands for. */
    Decision decision(byte[] reply) {
        ByteBuffer in = checked(reply);
        boolean spent = in.get() == DONE;
        long now = get(in, 7);
        LimitState[] states = new LimitState[keys.size()];
        List<Quota> quotas = quotas(in, states, spent, now);
        return spent
                ? new Decision.Allowed(quotas, new BackendReceipt(charges, List.of(states)))
                : new Decision.Rejected(quotas);
    }

    /** What each limit says, of a reply to an acquire script that only looked. */
    List<Quota> quotas(byte[] reply) {
        ByteBuffer in = checked(reply);
        in.get();
        long now = get(in, 7);
        return quotas(in, new LimitState[keys.size()], false, now);
    }

    private List<Quota> quotas(ByteBuffer in, LimitState[] states, boolean spent, long now) {
        Quota[] quotas = new Quota[keys.size()];
        int i = 0;
        for (Charge charge : charges) {
            for (int limit = 0; limit < charge.policy().limits().size(); limit++) {
                states[i] = state(in, charge.policy().limits().get(limit));
                quotas[i] = charge.policy().quota(limit, states[i], charge.cost(), charge.patienceMicros(), spent, now);
                i++;
            }
        }
        return List.of(quotas);
    }

    private static LimitState state(ByteBuffer in, Limit limit) {
        long a = get(in, 7);
        long b = get(in, 7);
        long c = get(in, 6);
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> new FixedWindowState(a, b);
            case SLIDING_WINDOW -> new SlidingWindowState(a, b, c);
            case TOKEN_BUCKET, LEAKY_BUCKET -> new TokenBucketState(a, b, (int) c);
            case SLIDING_LOG ->
                throw new IllegalArgumentException(
                        "algorithm " + limit.algorithm().configName() + " is not available");
        };
    }

    /** The reply, if no key held something else. */
    static ByteBuffer checked(byte[] reply) {
        if (reply[0] == FOREIGN) {
            throw new BackendException(
                    BackendException.Reason.FOREIGN_STATE,
                    "a key of the namespace holds something that is no state of a limit; it was left as it is",
                    null);
        }
        return ByteBuffer.wrap(reply);
    }

    private static void put(ByteBuffer out, long value, int bytes) {
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
            out.put((byte) (value >> shift));
        }
    }

    private static long get(ByteBuffer in, int bytes) {
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value = value << 8 | (in.get() & 0xff);
        }
        return value;
    }
}
