// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import io.weir.ratelimit.spi.Limit;

/**
 * The states of limits for a backend that stores them as numbers outside of this process. Such a backend names no kind of state. All
 * instants are in microseconds of its clock.
 */
public final class StoredStates {
    private StoredStates() {}

    /** Receives the numbers of a state. */
    @FunctionalInterface
    public interface Numbers {
        /** Receives the numbers, which the constructor of the state describes. */
        void accept(long first, long second, long third);
    }

    public static LimitState fixedWindow(long startMicros, long spent, boolean inDebt) {
        return new FixedWindowState(startMicros, spent, inDebt);
    }

    public static LimitState slidingWindow(long startMicros, long current, long previous, boolean inDebt) {
        return new SlidingWindowState(startMicros, current, previous, inDebt);
    }

    public static LimitState bucket(long anchorMicros, long debt, int unitExponent, boolean inDebt) {
        return new TokenBucketState(anchorMicros, debt, unitExponent, inDebt);
    }

    public static LimitState calendar(long firstMicros, long spent, long latestMicros, long endMicros, boolean inDebt) {
        return new CalendarState(firstMicros, spent, latestMicros, endMicros, inDebt);
    }

    /** Returns the summary of a log; a call can spend more when the entry {@code growsFromMicros} ends. */
    public static LimitState log(Limit limit, long spent, long growsFromMicros, long newestMicros) {
        return SlidingLogState.summary(limit, spent, growsFromMicros, newestMicros, 0, 0);
    }

    public static boolean isLog(LimitState state) {
        return state instanceof SlidingLogState;
    }

    /**
     * Returns the summary of a log with the entry at whose end there is room for a cost, if there is none now.
     *
     * @param log a {@link #log summary}
     */
    public static LimitState logAwaiting(LimitState log, Limit limit, long cost, long entryMicros, long nowMicros) {
        SlidingLogState known = (SlidingLogState) log;
        long missing = known.spent() + cost - limit.permits();
        if (missing <= 0) {
            return known;
        }
        long nextPermitAfter = known.retryAfterMicros(limit, known.remaining(limit, nowMicros) + 1, nowMicros);
        return SlidingLogState.summary(
                limit,
                known.spent(),
                nowMicros + nextPermitAfter - limit.windowMicros(),
                known.newestMicros(),
                missing,
                entryMicros);
    }

    /** Returns the summary of the slots of a key. */
    public static LimitState slots(int held, long earliestMicros, long latestMicros, long next) {
        return ConcurrencyState.summary(held, earliestMicros, latestMicros, next);
    }

    /** Gives the numbers by which a later refund recognizes a charge. A state without such numbers gives none. */
    public static void charged(LimitState state, Numbers out) {
        if (state instanceof FixedWindowState window) {
            out.accept(window.startMicros(), window.spent(), 0);
        } else if (state instanceof SlidingWindowState window) {
            out.accept(window.startMicros(), window.current(), window.previous());
        } else if (state instanceof TokenBucketState bucket) {
            out.accept(bucket.anchorMicros(), bucket.debt(), bucket.unitExponent());
        } else if (state instanceof SlidingLogState log) {
            out.accept(log.newestMicros(), 0, 0);
        } else if (state instanceof CalendarState calendar) {
            out.accept(calendar.latestMicros(), 0, 0);
        }
    }

    public static boolean isBucket(LimitState state) {
        return state instanceof TokenBucketState;
    }

    /** Returns the debt of a bucket, in its units. */
    public static long debt(LimitState bucket) {
        return ((TokenBucketState) bucket).debt();
    }

    /** Returns the greatest debt of a bucket without a settlement, in its units. */
    public static long maxDebt(Limit limit) {
        return TokenBucketState.maxDebt(limit);
    }

    /** Returns the start of a fixed or sliding window. */
    public static long startMicros(LimitState window) {
        return window instanceof SlidingWindowState sliding
                ? sliding.startMicros()
                : ((FixedWindowState) window).startMicros();
    }

    /** Returns for how many windows after its start a window counts the permits spent in it. */
    public static int windowsThatCount(LimitState window) {
        return window instanceof SlidingWindowState ? 2 : 1;
    }
}
