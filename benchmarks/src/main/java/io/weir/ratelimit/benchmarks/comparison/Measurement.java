// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

/**
 * The turn of a contender in one round.
 *
 * @param decisions the number of completed decisions
 * @param seconds the duration
 * @param usage the usage of Redis
 * @param latencies the latencies of the decisions
 */
record Measurement(long decisions, double seconds, RedisUsage usage, Latencies latencies) {
    double perSecond() {
        return decisions / seconds;
    }

    double cpuMicros() {
        return usage.cpuMicros() / decisions;
    }

    double bytes() {
        return (double) usage.bytes() / decisions;
    }
}
