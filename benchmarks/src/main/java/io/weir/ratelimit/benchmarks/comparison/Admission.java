// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

/**
 * The calls that a contender allowed while many threads reached a limit.
 *
 * @param contender the name of the contender
 * @param allowed the number of allowed calls
 * @param permits the permits of the limit
 * @param failed the number of failed calls; the permits that they have spent are not part of the allowed calls
 */
record Admission(String contender, long allowed, long permits, long failed) {
    private static final int CALLS_PER_PERMIT = 3;

    /** Calls a contender with a new key until the limit is well exceeded. */
    static Admission of(Scenario scenario, MeasuredContender contender) {
        long permits = scenario.workload().permits();
        long failed = contender.failed();
        scenario.pattern().run(contender, () -> contender.started() < CALLS_PER_PERMIT * permits);
        return new Admission(contender.limiter().name(), contender.allowed(), permits, contender.failed() - failed);
    }

    /** Returns the allowed calls relative to the limit. */
    double ratio() {
        return (double) allowed / permits;
    }
}
