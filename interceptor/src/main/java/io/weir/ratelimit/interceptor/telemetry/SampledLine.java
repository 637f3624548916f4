// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.telemetry;

/** A line of the log that others can cause as often as they like: told once in a while, with how many it stands for. */
public final class SampledLine {
    private final long quietNanos;
    private long untold;
    private long toldNanos;
    private boolean told;

    /**
     * A line that nothing has caused yet.
     *
     * @param quietNanos how long nothing is told after it was told, in nanoseconds
     */
    public SampledLine(long quietNanos) {
        this.quietNanos = quietNanos;
    }

    /**
     * Takes note of one more cause.
     *
     * @param nanos a monotonic instant
     * @return how many causes a line is due for, this one included; 0 if none is due
     */
    public synchronized long countToTell(long nanos) {
        untold++;
        if (told && nanos - toldNanos < quietNanos) {
            return 0;
        }
        long count = untold;
        untold = 0;
        told = true;
        toldNanos = nanos;
        return count;
    }
}
