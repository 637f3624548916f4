// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import java.util.Objects;

/**
 * Permits per window, with an algorithm. A value-based class.
 *
 * <p>State is counted in whole numbers that a double holds exactly, because Redis's scripts know no others. So time is divided
 * into units, the finest of 1 µs, 10 µs, … 1 s that divides the window and for which permits × window stays within
 * 2<sup>53</sup>. {@link #MAX_PERMITS} per second, or {@code 1000000000/30d}, are within it. A bucket for whose permits calls
 * may wait owes more than it holds: there the unit divides {@link #maxWait()} too, and {@link #mostDebt()} stays within
 * 2<sup>53</sup>.
 */
public final class Limit {
    /** The greatest number of permits per window, and of permits that a bucket holds: 2<sup>48</sup> − 2. */
    public static final long MAX_PERMITS = (1L << 48) - 2;

    /** The greatest number of permits per window that a {@link Algorithm#SLIDING_LOG} remembers. */
    public static final long MAX_LOG_PERMITS = 10_000;

    /** The longest window. */
    public static final Duration MAX_WINDOW = Duration.ofDays(366);

    /** The longest that a call may be ready to wait: 1 h. */
    public static final Duration MAX_MAX_WAIT = Duration.ofHours(1);

    private static final long MAX_EXACT = 1L << 53;
    private static final int MAX_EXPONENT = 6;

    private final Algorithm algorithm;
    private final long permits;
    private final Duration window;
    private final long capacity;
    private final Duration maxWait;
    private final int unitExponent;
    private final long unitMicros;
    private final long windowMicros;
    private final long windowUnits;
    private final long slotMicros;
    private final long mostDebt;

    private Limit(Algorithm algorithm, long permits, Duration window, long capacity, Duration maxWait) {
        this.algorithm = Objects.requireNonNull(algorithm, "algorithm");
        this.permits = checkedPermits(permits, "permits");
        this.window = checkedWindow(window);
        // An empty bucket that is never refilled is what blocks, whatever it could hold.
        this.capacity = permits == 0 ? 0 : checkedPermits(capacity, "burst");
        if (permits > 0 && capacity == 0) {
            throw new IllegalArgumentException("burst must be at least 1");
        }
        this.maxWait = checkedMaxWait(maxWait);
        this.windowMicros = window.toMillis() * 1_000;
        this.slotMicros = isBucket(algorithm) && permits > 0 ? maxWait.toMillis() * 1_000 : 0;
        int exponent = 0;
        long micros = 1;
        while (!isExactIn(micros) && windowMicros % micros == 0 && exponent < MAX_EXPONENT) {
            exponent++;
            micros *= 10;
        }
        if (!isExactIn(micros)) {
            throw new IllegalArgumentException(tooMany());
        }
        this.unitExponent = exponent;
        this.unitMicros = micros;
        this.windowUnits = windowMicros / micros;
        this.mostDebt = this.capacity * windowUnits + permits * (slotMicros / micros);
        if (permits > 0 && mostDebt / permits > MAX_EXACT / micros) {
            throw new IllegalArgumentException(
                    "a burst of " + capacity + " would take longer than 285 years to return");
        }
    }

    /** Whether a unit divides the times, and all that the limit counts in it stays within 2^53. */
    private boolean isExactIn(long micros) {
        long units = windowMicros / micros;
        if (windowMicros % micros != 0 || slotMicros % micros != 0 || units > MAX_EXACT / Math.max(1, most())) {
            return false;
        }
        return slotMicros == 0 || permits <= (MAX_EXACT - capacity * units) / (slotMicros / micros);
    }

    private long most() {
        return Math.max(permits, capacity);
    }

    private String tooMany() {
        return most() + " permits are too many for a window of " + window.toMillis() + " ms"
                + (slotMicros == 0
                        ? ": permits × window must stay within 2^53 of a time unit that divides the window, at most 1 s"
                        : " and a max-wait of " + maxWait.toMillis()
                                + " ms: burst × window + permits × max-wait must stay within 2^53 of a time unit that divides"
                                + " both, at most 1 s");
    }

    /**
     * A limit whose capacity is its permits; that of a leaky bucket is 1.
     *
     * @param algorithm how it counts
     * @param permits permits per window, 0 (blocks) to {@link #MAX_PERMITS}; of a sliding log to {@link #MAX_LOG_PERMITS}
     * @param window the window, whole milliseconds from 1 ms to {@link #MAX_WINDOW}
     * @return the limit
     * @throws IllegalArgumentException if a value is out of range, or too many permits for the window
     */
    public static Limit of(Algorithm algorithm, long permits, Duration window) {
        checkLog(algorithm, permits);
        return new Limit(algorithm, permits, window, usualCapacity(algorithm, permits), Duration.ZERO);
    }

    private static void checkLog(Algorithm algorithm, long permits) {
        if (algorithm == Algorithm.SLIDING_LOG && permits > MAX_LOG_PERMITS) {
            throw new IllegalArgumentException("sliding-log remembers each admitted call, of at most " + MAX_LOG_PERMITS
                    + " permits per window, not " + permits + ": choose sliding-window for more");
        }
    }

    private static long usualCapacity(Algorithm algorithm, long permits) {
        return algorithm == Algorithm.LEAKY_BUCKET ? 1 : permits;
    }

    /**
     * A bucket with a capacity of its own.
     *
     * @param algorithm {@link Algorithm#TOKEN_BUCKET} or {@link Algorithm#LEAKY_BUCKET}
     * @param permits permits per window that refill the bucket, 0 (blocks) to {@link #MAX_PERMITS}
     * @param window the window, whole milliseconds from 1 ms to {@link #MAX_WINDOW}
     * @param burst permits that the bucket holds, 1 to {@link #MAX_PERMITS}
     * @return the limit
     * @throws IllegalArgumentException if a value is out of range, too many permits for the window, a burst that would not return
     *     within 2<sup>53</sup> µs, or no bucket
     */
    public static Limit of(Algorithm algorithm, long permits, Duration window, long burst) {
        checkLog(algorithm, permits);
        if (!isBucket(algorithm)) {
            throw new IllegalArgumentException("burst has a meaning for token-bucket and leaky-bucket only");
        }
        return new Limit(algorithm, permits, window, burst, Duration.ZERO);
    }

    private static boolean isBucket(Algorithm algorithm) {
        return algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
    }

    /**
     * This limit with calls that may wait for permits.
     *
     * @param longest the longest that a call may be ready to wait, whole milliseconds from 0 to {@link #MAX_MAX_WAIT}; it makes
     *     no difference to what windows count
     * @return the limit
     * @throws IllegalArgumentException if the wait is out of range, or together with a bucket's permits too much to be counted
     *     exactly
     */
    public Limit withMaxWait(Duration longest) {
        // What a blocking limit could hold is not kept, and does not matter.
        return new Limit(algorithm, permits, window, Math.max(1, capacity), longest);
    }

    private static long checkedPermits(long permits, String what) {
        if (permits < 0 || permits > MAX_PERMITS) {
            throw new IllegalArgumentException(what + " must be from 0 to " + MAX_PERMITS);
        }
        return permits;
    }

    private static Duration checkedWindow(Duration window) {
        if (window.compareTo(Duration.ofMillis(1)) < 0 || window.compareTo(MAX_WINDOW) > 0) {
            throw new IllegalArgumentException("the window must be from 1ms to 366d");
        }
        if (window.toNanosPart() % 1_000_000 != 0) {
            throw new IllegalArgumentException("the window must be whole milliseconds");
        }
        return window;
    }

    private static Duration checkedMaxWait(Duration maxWait) {
        if (maxWait.isNegative() || maxWait.compareTo(MAX_MAX_WAIT) > 0) {
            throw new IllegalArgumentException("max-wait must be from 0s to 1h");
        }
        if (maxWait.toNanosPart() % 1_000_000 != 0) {
            throw new IllegalArgumentException("max-wait must be whole milliseconds");
        }
        return maxWait;
    }

    /**
     * How the limit counts.
     *
     * @return the algorithm
     */
    public Algorithm algorithm() {
        return algorithm;
    }

    /**
     * Permits per window.
     *
     * @return 0 to {@link #MAX_PERMITS}
     */
    public long permits() {
        return permits;
    }

    /**
     * The window.
     *
     * @return whole milliseconds
     */
    public Duration window() {
        return window;
    }

    /**
     * The most that one call can ever spend: the burst of a bucket, the permits of a window, 0 if the limit blocks.
     *
     * @return permits
     */
    public long capacity() {
        return capacity;
    }

    /**
     * The longest that a call may be ready to wait for permits.
     *
     * @return whole milliseconds, zero if calls do not wait
     */
    public Duration maxWait() {
        return maxWait;
    }

    /**
     * How far ahead a call can be given a slot: by buckets up to the call's patience and {@link #maxWait()}, whichever is
     * shorter; by windows not at all, which a call that waits asks again.
     *
     * @param patienceMicros how long the call is ready to wait, in microseconds, 0 or more
     * @return microseconds, 0 or more
     */
    public long slotWithinMicros(long patienceMicros) {
        return Math.min(patienceMicros, slotMicros);
    }

    /**
     * The most that a bucket can owe, in parts of permits: all that it holds and what returns to it within {@link #maxWait()}.
     *
     * @return capacity × window + permits × max-wait, both in time units of this limit, at most 2<sup>53</sup>
     */
    public long mostDebt() {
        return mostDebt;
    }

    /**
     * The length of a time unit of this limit as a power of ten.
     *
     * @return 0 (1 µs) to 6 (1 s)
     */
    public int unitExponent() {
        return unitExponent;
    }

    /**
     * The length of a time unit of this limit.
     *
     * @return microseconds
     */
    public long unitMicros() {
        return unitMicros;
    }

    /**
     * The window's length.
     *
     * @return microseconds
     */
    public long windowMicros() {
        return windowMicros;
    }

    /**
     * The window's length in time units of this limit.
     *
     * @return units
     */
    public long windowUnits() {
        return windowUnits;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Limit that
                && algorithm == that.algorithm
                && permits == that.permits
                && capacity == that.capacity
                && window.equals(that.window)
                && maxWait.equals(that.maxWait);
    }

    @Override
    public int hashCode() {
        return Objects.hash(algorithm, permits, capacity, window, maxWait);
    }

    /** The limit as configuration writes it, such as {@code 100/1m sliding-window}. */
    @Override
    public String toString() {
        boolean usual = permits == 0 || capacity == usualCapacity(algorithm, permits);
        return permits + "/" + windowText() + " " + algorithm.configName() + (usual ? "" : " burst " + capacity)
                + (maxWait.isZero() ? "" : " max-wait " + text(maxWait));
    }

    /**
     * The window as configuration writes it, in the largest unit that divides it, such as {@code 1m}.
     *
     * @return the text
     */
    public String windowText() {
        return text(window);
    }

    private static String text(Duration duration) {
        long millis = duration.toMillis();
        if (millis % 86_400_000 == 0) {
            return millis / 86_400_000 + "d";
        }
        if (millis % 3_600_000 == 0) {
            return millis / 3_600_000 + "h";
        }
        if (millis % 60_000 == 0) {
            return millis / 60_000 + "m";
        }
        return millis % 1_000 == 0 ? millis / 1_000 + "s" : millis + "ms";
    }
}
