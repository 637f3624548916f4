// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.lettuce.core.ScriptOutputType;
import java.time.Duration;

/**
 * The fixed window of Upstash Ratelimit: a counter per window, whose number is in the key, by the clock of the client. Rejected calls
 * count, too. The script is written from its documentation and is not its code. The usual client sends HTTP requests from TypeScript; here,
 * Lettuce sends the script.
 */
record UpstashFixedWindow(Workload workload) implements PeerScript {
    @Override
    public String name() {
        return "Upstash fixed window on Lettuce";
    }

    @Override
    public String source() {
        return """
                -- KEYS: counter of the window. ARGV: window in ms, cost. Reply: spent permits.
                local spent = redis.call('INCRBY', KEYS[1], ARGV[2])
                if spent == tonumber(ARGV[2]) then
                  redis.call('PEXPIRE', KEYS[1], ARGV[1])
                end
                return spent
                """;
    }

    @Override
    public ScriptOutputType reply() {
        return ScriptOutputType.INTEGER;
    }

    @Override
    public String[] keys(String limitKey, Duration window) {
        return new String[] {limitKey + ":" + System.currentTimeMillis() / window.toMillis()};
    }

    @Override
    public byte[][] arguments(Duration window) {
        return PeerScript.numbers(window.toMillis(), 1);
    }

    @Override
    public boolean allows(Object reply) {
        return (Long) reply <= workload.permits();
    }
}
