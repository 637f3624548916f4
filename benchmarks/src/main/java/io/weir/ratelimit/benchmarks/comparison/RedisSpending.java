// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.redisson.RedisConnection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a Redis has spent since it started.
 *
 * @param cpuMicros processor time in user and system mode, in microseconds
 * @param bytes bytes that it read from and wrote to the network
 */
record RedisSpending(double cpuMicros, long bytes) {

    static RedisSpending of(RedisConnection redis) {
        String cpu = redis.text("INFO", "cpu");
        String stats = redis.text("INFO", "stats");
        double seconds =
                Double.parseDouble(field(cpu, "used_cpu_sys")) + Double.parseDouble(field(cpu, "used_cpu_user"));
        long bytes = Long.parseLong(field(stats, "total_net_input_bytes"))
                + Long.parseLong(field(stats, "total_net_output_bytes"));
        return new RedisSpending(seconds * 1e6, bytes);
    }

    RedisSpending plus(RedisSpending other) {
        return new RedisSpending(cpuMicros + other.cpuMicros, bytes + other.bytes);
    }

    RedisSpending minus(RedisSpending earlier) {
        return new RedisSpending(cpuMicros - earlier.cpuMicros, bytes - earlier.bytes);
    }

    /** A field of a section of INFO. */
    static String field(String section, String name) {
        Matcher matcher = Pattern.compile("(?m)^" + name + ":([^\r\n]*)").matcher(section);
        if (!matcher.find()) {
            throw new IllegalStateException("INFO has no " + name);
        }
        return matcher.group(1);
    }
}
