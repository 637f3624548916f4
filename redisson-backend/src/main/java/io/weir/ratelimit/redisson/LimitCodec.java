// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.SlidingLogState;
import io.weir.ratelimit.core.limit.SlidingWindowState;
import io.weir.ratelimit.core.limit.TokenBucketState;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.ConcurrencyLimit;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.WindowLimit;
import java.util.List;

/** The limits in the argument of {@code acquire.lua}, and their states in its reply. The header of the script describes them. */
final class LimitCodec {
    private static final int COUNT = 2;
    private static final int FORM = 1;

    /** Stands before several limits of a key. In this place, {@link AcquireCodec} puts 0 or 2. */
    private static final int SEVERAL_LIMITS = 1;

    private static final int SEVERAL_LIMITS_BYTES = 5;
    private static final int LONG_LIMIT = 128;
    private static final int SHORT_LIMIT_BYTES = 12;
    private static final int LONG_LIMIT_BYTES = 27;

    /** Permits of a limit in short form are less, so that twice as many, which count after a settlement, take four bytes. */
    private static final long SHORT_PERMITS = 1L << 31;

    /** The forms of the state of a window. */
    private static final int UNTOUCHED = 0;

    private static final int CURRENT_ONLY = 1;
    private static final int SMALL_COUNTS = 2;

    private LimitCodec() {}

    /** Puts the limits of a key, from which the message spends for a number of requests at most. */
    static void put(MessageBytes out, List<Limit> limits, long expectedMicros, int requests) {
        if (limits.size() > 1) {
            out.put(SEVERAL_LIMITS, FORM);
            out.put(limits.size(), COUNT);
            out.put(length(limits), COUNT);
        }
        for (int i = 0; i < limits.size(); i++) {
            Limit limit = limits.get(i);
            if (limit instanceof CalendarLimit calendar) {
                CalendarCodec.put(out, limit, calendar.period(), expectedMicros);
            } else if (limit instanceof ConcurrencyLimit) {
                SlotCodec.put(out, limit, requests);
            } else if (hasShortForm(limit)) {
                putShort(out, limit);
            } else {
                out.put(LONG_LIMIT + LimitLetter.of(limit), FORM);
                putValues(out, limit);
            }
        }
    }

    /** Returns the number of bytes that {@link #put} puts. */
    static int size(List<Limit> limits) {
        return length(limits) + (limits.size() > 1 ? SEVERAL_LIMITS_BYTES : 0);
    }

    private static int length(List<Limit> limits) {
        int length = 0;
        for (int i = 0; i < limits.size(); i++) {
            length += length(limits.get(i));
        }
        return length;
    }

    private static int length(Limit limit) {
        if (limit instanceof ConcurrencyLimit) {
            return SlotCodec.BYTES;
        }
        return limit instanceof CalendarLimit
                ? CalendarCodec.BYTES
                : hasShortForm(limit) ? SHORT_LIMIT_BYTES : LONG_LIMIT_BYTES;
    }

    /** Returns whether a limit has a short form: few permits, no burst of its own and no max-wait. */
    static boolean hasShortForm(Limit limit) {
        return limit.permits() < SHORT_PERMITS && limit.capacity() == limit.permits() && limit.maxDelayMicros() == 0;
    }

    private static void putShort(MessageBytes out, Limit limit) {
        out.put(LimitLetter.of(limit), FORM);
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

    /** Returns the states of the limits of a key as of now. */
    static LimitState[] getStates(MessageBytes in, List<Limit> limits, long now) {
        LimitState[] states = new LimitState[limits.size()];
        for (int i = 0; i < states.length; i++) {
            states[i] = getState(in, limits.get(i), now);
        }
        return states;
    }

    private static LimitState getState(MessageBytes in, Limit limit, long now) {
        if (limit instanceof CalendarLimit) {
            return CalendarCodec.get(in, limit);
        }
        return limit instanceof WindowLimit window ? getState(in, window, now) : SlotCodec.get(in);
    }

    private static LimitState getState(MessageBytes in, WindowLimit limit, long now) {
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

    private static LimitState getWindow(MessageBytes in, WindowLimit limit, int form, long now) {
        boolean small = form == CURRENT_ONLY || form == SMALL_COUNTS;
        long start = form == UNTOUCHED ? now : now - in.get(small ? 5 : 6);
        long current = form == UNTOUCHED ? 0 : in.get(small ? 2 : 4);
        long previous = form <= CURRENT_ONLY ? 0 : in.get(small ? 2 : 4);
        return window(limit, start, current, previous);
    }

    /** Returns the state of a window as of now. Only a debt counts more than the permits. */
    private static LimitState window(WindowLimit limit, long start, long current, long previous) {
        boolean inDebt = current > limit.permits() || previous > limit.permits();
        return limit.algorithm() == Algorithm.FIXED_WINDOW
                ? new FixedWindowState(start, current, inDebt)
                : new SlidingWindowState(start, current, previous, inDebt);
    }

    private static LimitState bucket(Limit limit, long anchor, long debt, int unitExponent) {
        return new TokenBucketState(anchor, debt, unitExponent, debt > TokenBucketState.maxDebt(limit));
    }

    private static LimitState getLongState(MessageBytes in, WindowLimit limit) {
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
