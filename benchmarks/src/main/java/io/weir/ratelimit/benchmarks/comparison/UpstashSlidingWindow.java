// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.lettuce.core.ScriptOutputType;
import java.time.Duration;

/**
 * The sliding window of Upstash Ratelimit: counters of two windows by the clock of the client, of which the earlier one is weighted by its
 * remaining part. The script is written from its documentation and is not its code. The usual client sends HTTP requests from TypeScript;
 * here, Lettuce sends the script.
 */
record UpstashSlidingWindow(Workload workload) implements PeerScript {
    @Override
    public String name() {
        return "Upstash sliding window on Lettuce";
    }

    @Override
    public String source() {
        return """
                -- KEYS: counters of the current and the previous window. ARGV: permits, time in ms, window in ms, cost.
                -- Reply: remaining permits, or -1 if rejected.
                local permits, now, window, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
                local current = tonumber(redis.call('GET', KEYS[1]) or 0)
                local previous = tonumber(redis.call('GET', KEYS[2]) or 0)
                local weighted = math.floor((1 - now % window / window) * previous)
                if weighted + current + cost > permits then
                  return -1
                end
                current = redis.call('INCRBY', KEYS[1], cost)
                if current == cost then
                  redis.call('PEXPIRE', KEYS[1], 2 * window + 1000)
                end
                return permits - current - weighted
                """;
    }

    @Override
    public ScriptOutputType reply() {
        return ScriptOutputType.INTEGER;
    }

    @Override
    public String[] keys(String limitKey, Duration window) {
        long number = System.currentTimeMillis() / window.toMillis();
        return new String[] {limitKey + ":" + number, limitKey + ":" + (number - 1)};
    }

    @Override
    public byte[][] arguments(Duration window) {
        return PeerScript.numbers(workload.permits(), System.currentTimeMillis(), window.toMillis(), 1);
    }

    @Override
    public boolean allows(Object reply) {
        return (Long) reply >= 0;
    }
}
