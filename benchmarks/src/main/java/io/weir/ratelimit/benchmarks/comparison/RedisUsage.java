// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.weir.ratelimit.fixtures.RedisConnection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The resources that a Redis has used since its start.
 *
 * @param cpuMicros the processor time in user and system mode, in microseconds
 * @param bytes the bytes read from and written to the network
 */
record RedisUsage(double cpuMicros, long bytes) {

    static RedisUsage of(RedisConnection redis) {
        String cpu = redis.text("INFO", "cpu");
        String stats = redis.text("INFO", "stats");
        double seconds =
                Double.parseDouble(field(cpu, "used_cpu_sys")) + Double.parseDouble(field(cpu, "used_cpu_user"));
        long bytes = Long.parseLong(field(stats, "total_net_input_bytes"))
                + Long.parseLong(field(stats, "total_net_output_bytes"));
        return new RedisUsage(seconds * 1e6, bytes);
    }

    RedisUsage plus(RedisUsage other) {
        return new RedisUsage(cpuMicros + other.cpuMicros, bytes + other.bytes);
    }

    RedisUsage minus(RedisUsage earlier) {
        return new RedisUsage(cpuMicros - earlier.cpuMicros, bytes - earlier.bytes);
    }

    /** Returns a field of a section of INFO. */
    static String field(String section, String name) {
        Matcher matcher = Pattern.compile("(?m)^" + name + ":([^\r\n]*)").matcher(section);
        if (!matcher.find()) {
            throw new IllegalStateException("INFO has no " + name);
        }
        return matcher.group(1);
    }
}
