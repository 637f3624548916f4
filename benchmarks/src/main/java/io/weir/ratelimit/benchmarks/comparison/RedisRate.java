// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.lettuce.core.ScriptOutputType;
import java.time.Duration;
import java.util.List;

/**
 * The algorithm of redis_rate: the generic cell rate algorithm (GCRA) by the clock of Redis, with the theoretical arrival time (TAT) as
 * its only state. The script is written from the public description of GCRA and of the results that redis_rate returns, and is not its
 * code. The usual client, go-redis, is a client of Go; here, Lettuce sends the script.
 */
record RedisRate(Workload workload) implements PeerScript {
    @Override
    public String name() {
        return "redis_rate on Lettuce";
    }

    @Override
    public String source() {
        return """
                -- KEYS: TAT in seconds. ARGV: burst, permits per window, window in seconds, cost.
                -- Reply: allowed permits, remaining permits, seconds until a retry, seconds until the key is unused.
                local clock = redis.call('TIME')
                local now = clock[1] + clock[2] / 1000000
                local interval = ARGV[3] / ARGV[2]
                local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
                local later = tat + interval * ARGV[4]
                local room = now - later + interval * ARGV[1]
                if room < 0 then
                  return {0, 0, tostring(-room), tostring(tat - now)}
                end
                redis.call('SET', KEYS[1], string.format('%.6f', later), 'EX', math.ceil(later - now))
                return {tonumber(ARGV[4]), math.floor(room / interval), '-1', tostring(later - now)}
                """;
    }

    @Override
    public ScriptOutputType reply() {
        return ScriptOutputType.MULTI;
    }

    @Override
    public byte[][] arguments(Duration window) {
        return PeerScript.numbers(workload.burst(), workload.returned(window), window.toSeconds(), 1);
    }

    @Override
    public boolean allows(Object reply) {
        return (Long) ((List<?>) reply).get(0) > 0;
    }
}
