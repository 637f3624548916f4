// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.SlidingLogState;
import io.weir.ratelimit.spi.SlidingWindowState;
import io.weir.ratelimit.spi.TokenBucketState;

/** What goes to a script or comes back, written or read from left to right: unsigned whole numbers, big-endian, as {@code state.lua} says. */
final class Message {
    /** Bytes of a limit. */
    static final int LIMIT = 27;
    /** Bytes of a state. */
    static final int STATE = 20;

    private final byte[] bytes;
    private int at;

    private Message(byte[] bytes) {
        this.bytes = bytes;
    }

    static Message ofSize(int bytes) {
        return new Message(new byte[bytes]);
    }

    static Message received(byte[] bytes) {
        return new Message(bytes);
    }

    byte[] bytes() {
        return bytes;
    }

    void put(long value, int width) {
        for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
            bytes[at] = (byte) (value >> shift);
            at++;
        }
    }

    long get(int width) {
        long value = 0;
        for (int i = 0; i < width; i++) {
            value = value << 8 | (bytes[at] & 0xff);
            at++;
        }
        return value;
    }

    void put(Limit limit) {
        put(limit.algorithm().letter(), 1);
        put(limit.permits(), 6);
        put(limit.windowUnits(), 6);
        put(limit.unitExponent(), 1);
        put(limit.capacity(), 6);
        put(limit.mostDebt(), 7);
    }

    /** A cost; one that no limit can hold need not be told apart from the least such. */
    void putCost(long cost) {
        put(Math.min(cost, Limit.MAX_PERMITS + 1), 6);
    }

    void put(LimitState state) {
        if (state instanceof FixedWindowState window) {
            put(window.startMicros(), window.spent(), 0);
        } else if (state instanceof SlidingWindowState window) {
            put(window.startMicros(), window.current(), window.previous());
        } else if (state instanceof TokenBucketState bucket) {
            put(bucket.anchorMicros(), bucket.debt(), bucket.unitExponent());
        } else if (state instanceof SlidingLogState log) {
            put(log.newestMicros(), 0, 0);
        }
    }

    private void put(long a, long b, long c) {
        put(a, 7);
        put(b, 7);
        put(c, 6);
    }

    /** A state as of the script's instant; of a log, a digest. */
    LimitState state(Limit limit) {
        long a = get(7);
        long b = get(7);
        long c = get(6);
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> new FixedWindowState(a, b);
            case SLIDING_WINDOW -> new SlidingWindowState(a, b, c);
            case SLIDING_LOG -> SlidingLogState.digest(limit, c, a, b, 0, 0);
            case TOKEN_BUCKET, LEAKY_BUCKET -> new TokenBucketState(a, b, (int) c);
        };
    }
}
