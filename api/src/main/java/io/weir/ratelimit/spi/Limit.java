// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * A limit: permits per window, with an algorithm, permits per period of the calendar, or calls that may run at once. A value-based class.
 *
 * <p>Backends count in whole numbers that an IEEE 754 double represents exactly, because Redis scripts have no other numbers. Each limit
 * therefore has a time unit, which is one of 1 µs, 10 µs, … 1 s. It is the finest that divides the window and for which permits × window is
 * at most 2<sup>53</sup>. Limits up to {@link #MAX_PERMITS} per second, and limits such as {@code 1000000000/30d}, have such a unit. For a
 * bucket with a {@link #maxWait()}, the unit also divides the wait, and capacity × window + permits × max-wait is at most 2<sup>53</sup>.
 */
public final class Limit {
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

    private final Algorithm algorithm;
    private final long permits;
    private final Duration window;
    private final long capacity;
    private final Duration maxWait;
    private final Optional<CalendarPeriod> period;
    private final boolean concurrency;
    private final int unitExponent;
    private final long unitMicros;
    private final long windowMicros;
    private final long windowUnits;
    private final long maxDelayMicros;
    private final long maxDelayUnits;

    private Limit(
            Algorithm algorithm,
            long permits,
            Duration window,
            long capacity,
            Duration maxWait,
            Optional<CalendarPeriod> period,
            boolean concurrency) {
        this.algorithm = Objects.requireNonNull(algorithm, "algorithm");
        this.permits = checkedPermits(permits, "permits");
        this.window = checkedWindow(window);
        // A limit of 0 permits blocks, whatever its burst.
        this.capacity = permits == 0 ? 0 : checkedPermits(capacity, "burst");
        if (permits > 0 && capacity == 0) {
            throw new IllegalArgumentException("burst must be at least 1");
        }
        this.maxWait = checkedMaxWait(maxWait);
        this.period = period;
        this.concurrency = concurrency;
        // The arithmetic of a calendar or a concurrency limit does not multiply permits by time.
        ExactTime time = period.isPresent() || concurrency
                ? ExactTime.of(1, 1, window.toMillis(), 0)
                : ExactTime.of(
                        permits,
                        this.capacity,
                        window.toMillis(),
                        isBucket(algorithm) && permits > 0 ? maxWait.toMillis() : 0);
        this.unitExponent = time.unitExponent();
        this.unitMicros = time.unitMicros();
        this.windowMicros = time.windowMicros();
        this.windowUnits = time.windowUnits();
        this.maxDelayMicros = time.maxDelayMicros();
        this.maxDelayUnits = time.maxDelayUnits();
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
    public static Limit of(Algorithm algorithm, long permits, Duration window) {
        checkLog(algorithm, permits);
        return new Limit(
                algorithm,
                permits,
                window,
                defaultCapacity(algorithm, permits),
                Duration.ZERO,
                Optional.empty(),
                false);
    }

    /**
     * Returns a calendar limit: a fixed window that is a period of the calendar.
     *
     * @param permits the permits per period, 0 (blocks) to {@link #MAX_PERMITS}
     * @param period the periods
     * @return the limit, whose algorithm is {@link Algorithm#FIXED_WINDOW}
     * @throws IllegalArgumentException if the permits are out of range
     */
    public static Limit of(long permits, CalendarPeriod period) {
        return new Limit(
                Algorithm.FIXED_WINDOW,
                permits,
                period.unit().length(),
                permits,
                Duration.ZERO,
                Optional.of(period),
                false);
    }

    /**
     * Returns a concurrency limit: calls that may run at once. Each call takes one slot, whatever its cost is, and releases it when it
     * ends.
     *
     * @param calls the number of calls, 0 (blocks) to {@link #MAX_CONCURRENCY}
     * @param timeout the time after which a slot is free if its instance has not renewed it, whole milliseconds from 1 ms to {@link
     *     #MAX_WINDOW}
     * @return the limit, whose {@link #window()} is the timeout and whose algorithm has no meaning
     * @throws IllegalArgumentException if a value is out of range
     */
    public static Limit concurrency(long calls, Duration timeout) {
        if (calls > MAX_CONCURRENCY) {
            throw new IllegalArgumentException("concurrency must be from 0 to " + MAX_CONCURRENCY);
        }
        return new Limit(Algorithm.FIXED_WINDOW, calls, timeout, calls, Duration.ZERO, Optional.empty(), true);
    }

    private static void checkLog(Algorithm algorithm, long permits) {
        if (algorithm == Algorithm.SLIDING_LOG && permits > MAX_LOG_PERMITS) {
            throw new IllegalArgumentException("sliding-log stores each allowed call and supports at most "
                    + MAX_LOG_PERMITS + " permits per window, not " + permits + ": choose sliding-window for more");
        }
    }

    private static long defaultCapacity(Algorithm algorithm, long permits) {
        return algorithm == Algorithm.LEAKY_BUCKET ? 1 : permits;
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
    public static Limit of(Algorithm algorithm, long permits, Duration window, long burst) {
        checkLog(algorithm, permits);
        if (!isBucket(algorithm)) {
            throw new IllegalArgumentException("burst requires token-bucket or leaky-bucket");
        }
        return new Limit(algorithm, permits, window, burst, Duration.ZERO, Optional.empty(), false);
    }

    private static boolean isBucket(Algorithm algorithm) {
        return algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
    }

    /**
     * Returns this limit with a longest wait.
     *
     * @param wait the value of {@link #maxWait()}, whole milliseconds from 0 to {@link #MAX_MAX_WAIT}
     * @return the limit
     * @throws IllegalArgumentException if the wait is out of range, or if a bucket with this wait has no exact time unit
     */
    public Limit withMaxWait(Duration wait) {
        // A limit that blocks has the capacity 0, which is not a valid burst.
        return new Limit(algorithm, permits, window, Math.max(1, capacity), wait, period, concurrency);
    }

    /**
     * Returns this limit with other permits.
     *
     * @param other the permits per window, 0 (blocks) to {@link #MAX_PERMITS}
     * @return a limit with the same algorithm and the same window or periods, the default capacity and no max-wait
     * @throws IllegalArgumentException as {@link #of(Algorithm, long, Duration)}
     */
    public Limit withPermits(long other) {
        if (concurrency) {
            return concurrency(other, window);
        }
        return period.isPresent() ? of(other, period.get()) : of(algorithm, other, window);
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
     * Returns the algorithm.
     *
     * @return the algorithm; a fixed window for a calendar limit, which also has a {@link #period}, and for a concurrency limit, for which
     *     {@link #isConcurrency} is true
     */
    public Algorithm algorithm() {
        return algorithm;
    }

    /**
     * Returns the permits per window.
     *
     * @return the permits, 0 to {@link #MAX_PERMITS}
     */
    public long permits() {
        return permits;
    }

    /**
     * Returns the periods of a calendar limit.
     *
     * @return the periods; empty for a limit with a window
     */
    public Optional<CalendarPeriod> period() {
        return period;
    }

    /**
     * Tests whether this is a concurrency limit.
     *
     * @return true if the permits are calls that may run at once
     */
    public boolean isConcurrency() {
        return concurrency;
    }

    /**
     * Returns the window.
     *
     * @return the window, whole milliseconds; for a calendar limit the {@linkplain CalendarPeriod.Unit#length() nominal length} of a
     *     period; for a concurrency limit the timeout of a slot
     */
    public Duration window() {
        return window;
    }

    /**
     * Returns the greatest cost that a call can spend: the burst of a bucket, otherwise the permits; 0 if the limit blocks.
     *
     * @return the capacity in permits
     */
    public long capacity() {
        return capacity;
    }

    /**
     * Returns the longest time that a call may wait for its permits.
     *
     * @return the wait, whole milliseconds; zero if calls do not wait
     */
    public Duration maxWait() {
        return maxWait;
    }

    /**
     * Returns how long before the return of its permits a call can be charged: {@link #maxWait()} for a bucket; 0 for the other
     * algorithms, and for a limit that blocks.
     *
     * @return the delay in microseconds, 0 or more
     */
    public long maxDelayMicros() {
        return maxDelayMicros;
    }

    /**
     * Returns {@link #maxDelayMicros()} in time units of this limit.
     *
     * @return the delay in time units, 0 or more
     */
    public long maxDelayUnits() {
        return maxDelayUnits;
    }

    /**
     * Returns the length of the time unit of this limit, as a power of ten in microseconds.
     *
     * @return the exponent, 0 (1 µs) to 6 (1 s)
     */
    public int unitExponent() {
        return unitExponent;
    }

    /**
     * Returns the length of the time unit of this limit.
     *
     * @return the length in microseconds
     */
    public long unitMicros() {
        return unitMicros;
    }

    /**
     * Returns the length of the window in microseconds.
     *
     * @return the length in microseconds
     */
    public long windowMicros() {
        return windowMicros;
    }

    /**
     * Returns the length of the window in time units of this limit.
     *
     * @return the length in time units
     */
    public long windowUnits() {
        return windowUnits;
    }

    @Override
    public boolean equals(Object other) {
        return other == this
                || (other instanceof Limit that
                        && algorithm == that.algorithm
                        && permits == that.permits
                        && capacity == that.capacity
                        && window.equals(that.window)
                        && maxWait.equals(that.maxWait)
                        && concurrency == that.concurrency
                        && period.equals(that.period));
    }

    @Override
    public int hashCode() {
        return Objects.hash(algorithm, permits, capacity, window, maxWait, period);
    }

    /**
     * Returns the limit in the syntax of configuration, such as {@code 100/1m sliding-window} or {@code 1000/month Europe/Berlin}. A
     * concurrency limit is a text such as {@code 10 concurrent}.
     */
    @Override
    public String toString() {
        if (concurrency) {
            return permits + " concurrent";
        }
        if (period.isPresent()) {
            return permits + "/" + period.get() + (maxWait.isZero() ? "" : " max-wait " + DurationText.of(maxWait));
        }
        boolean isDefault = permits == 0 || capacity == defaultCapacity(algorithm, permits);
        return permits + "/" + windowText() + " " + algorithm.configName() + (isDefault ? "" : " burst " + capacity)
                + (maxWait.isZero() ? "" : " max-wait " + DurationText.of(maxWait));
    }

    /**
     * Returns the window in the syntax of configuration, in the largest unit that divides it, or the unit of the calendar.
     *
     * @return the text, such as {@code 1m} or {@code month}; {@code concurrent} for a concurrency limit
     */
    public String windowText() {
        if (concurrency) {
            return "concurrent";
        }
        return period.isPresent() ? period.get().unit().configName() : DurationText.of(window);
    }
}
