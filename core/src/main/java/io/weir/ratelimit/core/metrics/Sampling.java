// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.function.LongSupplier;

/**
 * The choice of the values of a series that are recorded. It is each value, or a random one of {@value #PART} if there are many. Many
 * values in one second change the choice for some minutes, so that the values of a busy second do not count less than those around it.
 */
public final class Sampling {
    /** One of so many values is recorded if there are many. */
    public static final int PART = 16;

    /** So many values in one second are many. */
    public static final int MANY = 1_000;

    static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Without many values in a second, each value is recorded again after this time, which is longer than the usual range of a rate. */
    static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(10);

    private final LongSupplier nanoTime;
    private final IntUnaryOperator random;
    private volatile boolean many;

    /** Guarded by this, as are the following fields. */
    private long secondNanos;

    private int estimate;
    private long lastManyNanos;

    /** Creates a choice of each value. The random numbers are from 0 to below the argument. */
    public Sampling(LongSupplier nanoTime, IntUnaryOperator random) {
        this.nanoTime = nanoTime;
        this.random = random;
        this.secondNanos = nanoTime.getAsLong();
    }

    public static Sampling ofProcess() {
        return new Sampling(
                System::nanoTime, bound -> ThreadLocalRandom.current().nextInt(bound));
    }

    /** Returns whether the next value is recorded. */
    public boolean next() {
        if (many && random.applyAsInt(PART) != 0) {
            return false;
        }
        count(nanoTime.getAsLong());
        return true;
    }

    private synchronized void count(long nanos) {
        if (nanos - secondNanos >= SECOND_NANOS) {
            secondNanos = nanos;
            estimate = 0;
            many = many && nanos - lastManyNanos < QUIET_NANOS;
        }
        estimate += many ? PART : 1;
        if (estimate >= MANY) {
            many = true;
            lastManyNanos = nanos;
        }
    }
}
