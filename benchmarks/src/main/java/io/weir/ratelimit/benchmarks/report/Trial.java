// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.report;

/** A trial runs each program for a short time, to show that it works. Its figures have no meaning. */
public final class Trial {
    static final String PROPERTY = "weir.benchmarks.trial";
    private static final boolean ON = Boolean.getBoolean(PROPERTY);

    private Trial() {}

    /** Returns a number of rounds, turns or calls: the second one in a trial. */
    public static int or(int measured, int trial) {
        return ON ? trial : measured;
    }

    /** Returns a number of seconds: the second one in a trial. */
    public static double or(double measured, double trial) {
        return ON ? trial : measured;
    }
}
