// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.StoredStates;
import io.weir.ratelimit.spi.CalendarLimit;
import io.weir.ratelimit.spi.ConcurrencyLimit;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.WindowLimit;
import java.util.List;

/** The limits in the argument of {@code acquire.lua}, and their states in its reply. {@code state.lua} describes them. */
public final class LimitCodec {
    /** The letter of a state that is the debt of a limit. */
    private static final int DEBT = 'd';

    private static final int UNTOUCHED = 0;
    private static final int LETTER = 1;
    private static final int WINDOW = 5;
    private static final int TIME = 7;
    private static final int LENGTH = 2;
    private static final int PERMITS = 6;
    private static final int DELAY = 6;
    private static final int EXPONENT = 1;

    /** The window in the message and in the section of a concurrency limit, whatever its timeout is. */
    private static final int WINDOW_OF_SLOTS = 1;

    private LimitCodec() {}

    /** Returns the letter of a limit in messages and in stored values. It is part of the stored format and never changes. */
    public static char letterOf(Limit limit) {
        if (limit instanceof WindowLimit window) {
            return switch (window.algorithm()) {
                case FIXED_WINDOW -> 'f';
                case SLIDING_WINDOW -> 's';
                case SLIDING_LOG -> 'g';
                case TOKEN_BUCKET -> 't';
                case LEAKY_BUCKET -> 'l';
            };
        }
        return limit instanceof CalendarLimit ? 'c' : 'n';
    }

    /**
     * Puts a limit with the longest wait of the call and the instant that Redis's clock probably shows. A concurrency limit has the number
     * of the first slot that can be taken.
     */
    static void put(MessageBytes out, Limit limit, long maxWaitMicros, long expectedMicros, long slot) {
        boolean slots = limit instanceof ConcurrencyLimit;
        out.put(letterOf(limit), LETTER);
        out.put(limit.permits(), PERMITS);
        out.put(slots ? WINDOW_OF_SLOTS : limit.windowMicros() / 1_000, WINDOW);
        out.put(limit.unitExponent(), EXPONENT);
        if (limit instanceof CalendarLimit calendar) {
            CalendarCodec.put(out, calendar.period(), expectedMicros);
        } else if (slots) {
            SlotCodec.put(out, limit, slot);
        } else if (limit.uses(Algorithm.TOKEN_BUCKET) || limit.uses(Algorithm.LEAKY_BUCKET)) {
            out.put(limit.capacity(), PERMITS);
            out.put(StoredStates.maxDebt(limit), TIME);
            out.put(LimitState.maxDelayMicros(limit, maxWaitMicros), DELAY);
        }
    }

    /** Returns the state of a limit as of now, and adds the awaited entry of a log to the entries. */
    static LimitState get(MessageBytes in, Limit limit, long now, List<Long> entries) {
        int letter = (int) in.get(LETTER);
        if (letter == UNTOUCHED) {
            return LimitState.untouched(limit, now);
        }
        if (limit instanceof ConcurrencyLimit) {
            return SlotCodec.get(in);
        }
        if (limit.uses(Algorithm.SLIDING_LOG)) {
            long oldest = in.get(TIME);
            long newest = in.get(TIME);
            LimitState log = StoredStates.log(limit, in.get(PERMITS), oldest, newest);
            entries.add(in.get(TIME));
            return log;
        }
        in.skip(WINDOW);
        boolean inDebt = letter == DEBT;
        WindowLimit window = limit instanceof WindowLimit known ? known : null;
        long end = window == null || inDebt ? in.get(TIME) : 0;
        in.skip(inDebt ? LENGTH + LETTER : window == null ? LENGTH : 0);
        return window == null
                ? CalendarCodec.get(in, end, inDebt)
                : getSection(in, window, inDebt).asOf(limit, now);
    }

    /** Returns the stored state of a window or a bucket. Only in debt, it counts more than the permits. */
    private static LimitState getSection(MessageBytes in, WindowLimit limit, boolean inDebt) {
        long first = in.get(TIME);
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> {
                long spent = in.get(inDebt ? TIME : PERMITS);
                in.skip(inDebt ? PERMITS : 0);
                yield StoredStates.fixedWindow(first, spent, inDebt);
            }
            case SLIDING_WINDOW ->
                StoredStates.slidingWindow(first, in.get(inDebt ? TIME : PERMITS), in.get(PERMITS), inDebt);
            default -> {
                long debt = in.get(TIME);
                int exponent = (int) in.get(inDebt ? PERMITS : EXPONENT);
                in.skip(inDebt ? 0 : TIME);
                yield StoredStates.bucket(first, debt, exponent, inDebt);
            }
        };
    }
}
