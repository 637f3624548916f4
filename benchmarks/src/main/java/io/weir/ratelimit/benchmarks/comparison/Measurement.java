// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

/**
 * The turn of a contender in one round.
 *
 * @param decisions the number of completed decisions
 * @param failed the number of failed calls, which have no decision before the deadline
 * @param seconds the duration
 * @param usage the usage of Redis
 * @param clientCpu the processor time of this process in microseconds
 * @param latencies the latencies of the decisions
 */
record Measurement(
        long decisions, long failed, double seconds, RedisUsage usage, double clientCpu, Latencies latencies) {
    double perSecond() {
        return decisions / seconds;
    }

    double cpuMicros() {
        return usage.cpuMicros() / decisions;
    }

    double clientCpuMicros() {
        return clientCpu / decisions;
    }

    double bytes() {
        return (double) usage.bytes() / decisions;
    }
}
