// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

/**
 * The times of a limit in its time unit, in which all numbers of the limit are whole and at most 2<sup>53</sup>.
 *
 * @param unitExponent the length of the unit as a power of ten in microseconds, 0 to 6
 * @param unitMicros the length of the unit in microseconds
 * @param windowMicros the window in microseconds
 * @param windowUnits the window in units
 * @param maxDelayMicros the longest delay of a bucket in microseconds
 * @param maxDelayUnits the longest delay of a bucket in units
 */
record ExactTime(
        int unitExponent,
        long unitMicros,
        long windowMicros,
        long windowUnits,
        long maxDelayMicros,
        long maxDelayUnits) {
    private static final long MAX_EXACT = 1L << 53;
    private static final int MAX_EXPONENT = 6;

    /**
     * Returns the times in the finest unit that is exact.
     *
     * @throws IllegalArgumentException if there is no such unit, or if the refill of the capacity takes more than 2<sup>53</sup> µs
     */
    static ExactTime of(long permits, long capacity, long windowMillis, long maxDelayMillis) {
        long micros = 1;
        for (int exponent = 0; exponent <= MAX_EXPONENT; exponent++) {
            ExactTime time = in(exponent, micros, windowMillis * 1_000, maxDelayMillis * 1_000);
            if (time.isExact(permits, capacity)) {
                time.checkRefill(permits, capacity);
                return time;
            }
            micros *= 10;
        }
        throw new IllegalArgumentException(tooMany(Math.max(permits, capacity), windowMillis, maxDelayMillis));
    }

    private static ExactTime in(int exponent, long micros, long windowMicros, long maxDelayMicros) {
        return new ExactTime(
                exponent, micros, windowMicros, windowMicros / micros, maxDelayMicros, maxDelayMicros / micros);
    }

    private boolean isExact(long permits, long capacity) {
        if (windowMicros % unitMicros != 0
                || maxDelayMicros % unitMicros != 0
                || windowUnits > MAX_EXACT / Math.max(1, Math.max(permits, capacity))) {
            return false;
        }
        return maxDelayMicros == 0 || permits <= (MAX_EXACT - capacity * windowUnits) / maxDelayUnits;
    }

    private void checkRefill(long permits, long capacity) {
        if (permits > 0 && capacity * windowUnits / permits + maxDelayUnits > MAX_EXACT / unitMicros) {
            throw new IllegalArgumentException("a burst of " + capacity + " needs more than 285 years to be refilled");
        }
    }

    private static String tooMany(long permits, long windowMillis, long maxDelayMillis) {
        return permits + " permits are too many for a window of " + windowMillis + " ms"
                + (maxDelayMillis == 0
                        ? ": permits × window must be at most 2^53 in a time unit that divides the window and is at most 1 s"
                        : " and a max-wait of " + maxDelayMillis
                                + " ms: burst × window + permits × max-wait must be at most 2^53 in a time unit that divides both"
                                + " and is at most 1 s");
    }
}
