// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Function;

/**
 * A limit: permits per window ({@link WindowLimit}), permits per period of the calendar ({@link CalendarLimit}), or calls that may run at
 * once ({@link ConcurrencyLimit}). A value-based class.
 *
 * <p>Backends count in whole numbers that an IEEE 754 double represents exactly, because Redis scripts have no other numbers. Each limit
 * therefore has a time unit, which is one of 1 µs, 10 µs, … 1 s. It is the finest that divides the window and for which permits × window is
 * at most 2<sup>53</sup>. Limits up to {@link #MAX_PERMITS} per second, and limits such as {@code 1000000000/30d}, have such a unit. For a
 * bucket with a {@link #maxWait()}, the unit also divides the wait, and capacity × window + permits × max-wait is at most 2<sup>53</sup>.
 */
public abstract sealed class Limit permits WindowLimit, CalendarLimit, ConcurrencyLimit {
    /** The greatest number of permits per window, and the greatest capacity of a bucket: 2<sup>48</sup> − 2. */
    public static final long MAX_PERMITS = (1L << 48) - 2;

    /** The greatest number of permits per window of a {@link Algorithm#SLIDING_LOG}. */
    public static final long MAX_LOG_PERMITS = 10_000;

    /** The greatest number of calls that may run at once: a backend stores each of them. */
    public static final int MAX_CONCURRENCY = 3_000;

    /** The longest window. */
    public static final Duration MAX_WINDOW = Duration.ofDays(366);

    /** The greatest value of {@link #maxWait()}: 1 h. */
    public static final Duration MAX_MAX_WAIT = Duration.ofHours(1);

    private final long permits;
    private final long capacity;
    private final Duration window;
    private final Duration maxWait;
    private final int unitExponent;
    private final long unitMicros;
    private final long windowMicros;
    private final long windowUnits;

    Limit(long permits, long capacity, Duration window, Duration maxWait, ExactTime time) {
        this.permits = permits;
        this.capacity = capacity;
        this.window = window;
        this.maxWait = maxWait;
        this.unitExponent = time.unitExponent();
        this.unitMicros = time.unitMicros();
        this.windowMicros = time.windowMicros();
        this.windowUnits = time.windowUnits();
    }

    /**
     * Returns a limit with the default capacity: 1 for a leaky bucket, the permits for the other algorithms.
     *
     * @param algorithm the algorithm
     * @param permits the permits per window, 0 (blocks) to {@link #MAX_PERMITS}; for a sliding log to {@link #MAX_LOG_PERMITS}
     * @param window the window, whole milliseconds from 1 ms to {@link #MAX_WINDOW}
     * @return the limit
     * @throws IllegalArgumentException if a value is out of range, or if the permits are too many for the window
     */
    public static WindowLimit of(Algorithm algorithm, long permits, Duration window) {
        return new WindowLimit(
                algorithm, permits, window, WindowLimit.defaultCapacity(algorithm, permits), Duration.ZERO);
    }

    /**
     * Returns a bucket with a given capacity.
     *
     * @param algorithm {@link Algorithm#TOKEN_BUCKET} or {@link Algorithm#LEAKY_BUCKET}
     * @param permits the permits per window with which the bucket is refilled, 0 (blocks) to {@link #MAX_PERMITS}
     * @param window the window, whole milliseconds from 1 ms to {@link #MAX_WINDOW}
     * @param burst the capacity of the bucket in permits, 1 to {@link #MAX_PERMITS}
     * @return the limit
     * @throws IllegalArgumentException if a value is out of range, if the permits are too many for the window, or if the algorithm is not
     *     a bucket. It is also thrown if the refill of an empty bucket takes more than 2<sup>53</sup> µs
     */
    public static WindowLimit of(Algorithm algorithm, long permits, Duration window, long burst) {
        return WindowLimit.bucket(algorithm, permits, window, burst);
    }

    /**
     * Returns a calendar limit: a fixed window that is a period of the calendar.
     *
     * @param permits the permits per period, 0 (blocks) to {@link #MAX_PERMITS}
     * @param period the periods
     * @return the limit
     * @throws IllegalArgumentException if the permits are out of range
     */
    public static CalendarLimit of(long permits, CalendarPeriod period) {
        return new CalendarLimit(permits, period, Duration.ZERO);
    }

    /**
     * Returns a concurrency limit: calls that may run at once. Each call takes one slot, whatever its cost is, and releases it when it
     * ends.
     *
     * @param calls the number of calls, 0 (blocks) to {@link #MAX_CONCURRENCY}
     * @param timeout the time after which a slot is free if its instance has not renewed it, whole milliseconds from 1 ms to {@link
     *     #MAX_WINDOW}
     * @return the limit
     * @throws IllegalArgumentException if a value is out of range
     */
    public static ConcurrencyLimit concurrency(long calls, Duration timeout) {
        return new ConcurrencyLimit(calls, timeout, Duration.ZERO);
    }

    static long checkedPermits(long permits, String what) {
        if (permits < 0 || permits > MAX_PERMITS) {
            throw new IllegalArgumentException(what + " must be from 0 to " + MAX_PERMITS);
        }
        return permits;
    }

    static Duration checkedWindow(Duration window) {
        if (window.compareTo(Duration.ofMillis(1)) < 0 || window.compareTo(MAX_WINDOW) > 0) {
            throw new IllegalArgumentException("the window must be from 1ms to 366d");
        }
        if (window.toNanosPart() % 1_000_000 != 0) {
            throw new IllegalArgumentException("the window must be whole milliseconds");
        }
        return window;
    }

    static Duration checkedMaxWait(Duration maxWait) {
        if (maxWait.isNegative() || maxWait.compareTo(MAX_MAX_WAIT) > 0) {
            throw new IllegalArgumentException("max-wait must be from 0s to 1h");
        }
        if (maxWait.toNanosPart() % 1_000_000 != 0) {
            throw new IllegalArgumentException("max-wait must be whole milliseconds");
        }
        return maxWait;
    }

    /** Returns the times of a limit whose arithmetic does not multiply permits by time. */
    static ExactTime timeOf(Duration window) {
        return ExactTime.of(1, 1, window.toMillis(), 0);
    }

    /**
     * Applies the function of the kind of this limit.
     *
     * @param <T> the type of the result
     * @param ofWindow is applied to a limit with a window
     * @param ofCalendar is applied to a calendar limit
     * @param ofConcurrency is applied to a concurrency limit
     * @return the result of the function
     */
    public final <T> T fold(
            Function<? super WindowLimit, ? extends T> ofWindow,
            Function<? super CalendarLimit, ? extends T> ofCalendar,
            Function<? super ConcurrencyLimit, ? extends T> ofConcurrency) {
        if (this instanceof WindowLimit window) {
            return ofWindow.apply(window);
        }
        return this instanceof CalendarLimit calendar
                ? ofCalendar.apply(calendar)
                : ofConcurrency.apply((ConcurrencyLimit) this);
    }

    /**
     * Returns this limit with a longest wait.
     *
     * @param wait the value of {@link #maxWait()}, whole milliseconds from 0 to {@link #MAX_MAX_WAIT}
     * @return the limit
     * @throws IllegalArgumentException if the wait is out of range, or if a bucket with this wait has no exact time unit
     */
    public abstract Limit withMaxWait(Duration wait);

    /**
     * Returns this limit with other permits.
     *
     * @param other the permits per window, 0 (blocks) to {@link #MAX_PERMITS}
     * @return a limit with the same algorithm and the same window or periods, the default capacity and no max-wait
     * @throws IllegalArgumentException as {@link #of(Algorithm, long, Duration)}
     */
    public abstract Limit withPermits(long other);

    /**
     * Returns the window in the syntax of configuration, in the largest unit that divides it, or the unit of the calendar.
     *
     * @return the text, such as {@code 1m} or {@code month}; {@code concurrent} for a concurrency limit
     */
    public abstract String windowText();

    /**
     * Tests whether this is a limit with a window and an algorithm.
     *
     * @param algorithm an algorithm
     * @return true if it is a {@link WindowLimit} with the algorithm
     */
    public final boolean uses(Algorithm algorithm) {
        return this instanceof WindowLimit limit && limit.algorithm() == algorithm;
    }

    /**
     * Returns the permits per window or period, or the calls that may run at once.
     *
     * @return the permits, 0 to {@link #MAX_PERMITS}
     */
    public final long permits() {
        return permits;
    }

    /**
     * Returns the window.
     *
     * @return the window, whole milliseconds; for a calendar limit the {@linkplain CalendarPeriod.Unit#length() nominal length} of a
     *     period; for a concurrency limit the timeout of a slot
     */
    public final Duration window() {
        return window;
    }

    /**
     * Returns the greatest cost that a call can spend: the burst of a bucket, otherwise the permits; 0 if the limit blocks.
     *
     * @return the capacity in permits
     */
    public final long capacity() {
        return capacity;
    }

    /**
     * Returns the longest time that a call may wait for its permits.
     *
     * @return the wait, whole milliseconds; zero if calls do not wait
     */
    public final Duration maxWait() {
        return maxWait;
    }

    /**
     * Returns the length of the time unit of this limit, as a power of ten in microseconds.
     *
     * @return the exponent, 0 (1 µs) to 6 (1 s)
     */
    public final int unitExponent() {
        return unitExponent;
    }

    /**
     * Returns the length of the time unit of this limit.
     *
     * @return the length in microseconds
     */
    public final long unitMicros() {
        return unitMicros;
    }

    /**
     * Returns the length of the window in microseconds.
     *
     * @return the length in microseconds
     */
    public final long windowMicros() {
        return windowMicros;
    }

    /**
     * Returns the length of the window in time units of this limit.
     *
     * @return the length in time units
     */
    public final long windowUnits() {
        return windowUnits;
    }

    @Override
    public boolean equals(Object other) {
        return other == this
                || (other instanceof Limit that
                        && permits == that.permits
                        && capacity == that.capacity
                        && window.equals(that.window)
                        && maxWait.equals(that.maxWait)
                        && kindOf().equals(that.kindOf()));
    }

    /** Returns what distinguishes limits besides their numbers. Its type differs for each kind. */
    abstract Object kindOf();

    @Override
    public int hashCode() {
        return Objects.hash(kindOf(), permits, capacity, window, maxWait);
    }

    /**
     * Returns the limit in the syntax of configuration, such as {@code 100/1m sliding-window} or {@code 1000/month Europe/Berlin}. A
     * concurrency limit is a text such as {@code 10 concurrent}.
     */
    @Override
    public abstract String toString();

    final String maxWaitText() {
        return maxWait.isZero() ? "" : " max-wait " + DurationText.of(maxWait);
    }
}
