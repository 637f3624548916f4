// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import java.util.Objects;

/** A limit of permits per window, with an algorithm. {@link Limit#of(Algorithm, long, Duration)} creates it. */
public final class WindowLimit extends Limit {
    private final Algorithm algorithm;

    WindowLimit(Algorithm algorithm, long permits, Duration window, long burst, Duration maxWait) {
        super(
                checked(algorithm, permits),
                capacity(permits, burst),
                checkedWindow(window),
                checkedMaxWait(maxWait),
                ExactTime.of(
                        permits,
                        capacity(permits, burst),
                        window.toMillis(),
                        isBucket(algorithm) && permits > 0 ? maxWait.toMillis() : 0));
        this.algorithm = algorithm;
    }

    private static long checked(Algorithm algorithm, long permits) {
        Objects.requireNonNull(algorithm, "algorithm");
        if (algorithm == Algorithm.SLIDING_LOG && permits > MAX_LOG_PERMITS) {
            throw new IllegalArgumentException("sliding-log stores each allowed call and supports at most "
                    + MAX_LOG_PERMITS + " permits per window, not " + permits + ": choose sliding-window for more");
        }
        return checkedPermits(permits, "permits");
    }

    /** A limit of 0 permits blocks, whatever its burst. */
    private static long capacity(long permits, long burst) {
        long capacity = permits == 0 ? 0 : checkedPermits(burst, "burst");
        if (permits > 0 && capacity == 0) {
            throw new IllegalArgumentException("burst must be at least 1");
        }
        return capacity;
    }

    static WindowLimit bucket(Algorithm algorithm, long permits, Duration window, long burst) {
        checked(algorithm, permits);
        if (!isBucket(algorithm)) {
            throw new IllegalArgumentException("burst requires token-bucket or leaky-bucket");
        }
        return new WindowLimit(algorithm, permits, window, burst, Duration.ZERO);
    }

    static long defaultCapacity(Algorithm algorithm, long permits) {
        return algorithm == Algorithm.LEAKY_BUCKET ? 1 : permits;
    }

    private static boolean isBucket(Algorithm algorithm) {
        return algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
    }

    /**
     * Returns the algorithm.
     *
     * @return the algorithm
     */
    public Algorithm algorithm() {
        return algorithm;
    }

    /**
     * Tests whether the algorithm is a bucket.
     *
     * @return true for a token bucket or a leaky bucket
     */
    public boolean isBucket() {
        return isBucket(algorithm);
    }

    @Override
    public WindowLimit withMaxWait(Duration wait) {
        return new WindowLimit(algorithm, permits(), window(), capacity(), wait);
    }

    @Override
    public WindowLimit withPermits(long other) {
        return of(algorithm, other, window());
    }

    @Override
    public String windowText() {
        return DurationText.of(window());
    }

    @Override
    Object kindOf() {
        return algorithm;
    }

    @Override
    public String toString() {
        boolean isDefault = permits() == 0 || capacity() == defaultCapacity(algorithm, permits());
        return permits() + "/" + windowText() + " " + algorithm.configName() + (isDefault ? "" : " burst " + capacity())
                + maxWaitText();
    }
}
