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
 * 2<sup>53</sup>. {@link #MAX_PERMITS} per second, or {@code 1000000000/30d}, are within it.
 */
public final class Limit {
    /** The greatest number of permits per window, and of permits that a bucket holds: 2<sup>48</sup> − 2. */
    public static final long MAX_PERMITS = (1L << 48) - 2;

    /** The greatest number of permits per window that a {@link Algorithm#SLIDING_LOG} remembers. */
    public static final long MAX_LOG_PERMITS = 10_000;

    /** The longest window. */
    public static final Duration MAX_WINDOW = Duration.ofDays(366);

    private static final long MAX_EXACT = 1L << 53;
    private static final int MAX_EXPONENT = 6;

    private final Algorithm algorithm;
    private final long permits;
    private final Duration window;
    private final long capacity;
    private final int unitExponent;
    private final long unitMicros;
    private final long windowMicros;
    private final long windowUnits;

    private Limit(Algorithm algorithm, long permits, Duration window, long capacity) {
        this.algorithm = Objects.requireNonNull(algorithm, "algorithm");
        this.permits = checkedPermits(permits, "permits");
        this.window = checkedWindow(window);
        // An empty bucket that is never refilled is what blocks, whatever it could hold.
        this.capacity = permits == 0 ? 0 : checkedPermits(capacity, "burst");
        if (permits > 0 && capacity == 0) {
            throw new IllegalArgumentException("burst must be at least 1");
        }
        this.windowMicros = window.toMillis() * 1_000;
        long most = Math.max(1, Math.max(permits, this.capacity));
        int exponent = 0;
        long micros = 1;
        while (windowMicros % micros == 0 && windowMicros / micros > MAX_EXACT / most && exponent < MAX_EXPONENT) {
            exponent++;
            micros *= 10;
        }
        if (windowMicros % micros != 0 || windowMicros / micros > MAX_EXACT / most) {
            throw new IllegalArgumentException(
                    most + " permits are too many for a window of " + window.toMillis()
                            + " ms: permits × window must stay within 2^53 of a time unit that divides the window, at most 1 s");
        }
        this.unitExponent = exponent;
        this.unitMicros = micros;
        this.windowUnits = windowMicros / micros;
        if (permits > 0 && this.capacity * windowUnits / permits > MAX_EXACT / micros) {
            throw new IllegalArgumentException(
                    "a burst of " + capacity + " would take longer than 285 years to return");
        }
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
        return new Limit(algorithm, permits, window, usualCapacity(algorithm, permits));
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
        if (algorithm != Algorithm.TOKEN_BUCKET && algorithm != Algorithm.LEAKY_BUCKET) {
            throw new IllegalArgumentException("burst has a meaning for token-bucket and leaky-bucket only");
        }
        return new Limit(algorithm, permits, window, burst);
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
                && window.equals(that.window);
    }

    @Override
    public int hashCode() {
        return Objects.hash(algorithm, permits, capacity, window);
    }

    /** The limit as configuration writes it, such as {@code 100/1m sliding-window}. */
    @Override
    public String toString() {
        String text = permits + "/" + windowText() + " " + algorithm.configName();
        return permits == 0 || capacity == usualCapacity(algorithm, permits) ? text : text + " burst " + capacity;
    }

    /**
     * The window as configuration writes it, in the largest unit that divides it, such as {@code 1m}.
     *
     * @return the text
     */
    public String windowText() {
        long millis = windowMicros / 1_000;
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
