// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

/**
 * A contender's turn in one round.
 *
 * @param decisions how many decisions were answered
 * @param seconds how long that took
 * @param spent what Redis spent meanwhile
 * @param latencies how long each took
 */
record Measurement(long decisions, double seconds, RedisSpending spent, Latencies latencies) {
    double perSecond() {
        return decisions / seconds;
    }

    double cpuMicros() {
        return spent.cpuMicros() / decisions;
    }

    double bytes() {
        return (double) spent.bytes() / decisions;
    }
}
