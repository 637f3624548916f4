// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks.comparison;

import io.lettuce.core.ScriptOutputType;
import java.time.Duration;
import java.util.List;

/**
 * The algorithm of the Redis rate limiter of Spring Cloud Gateway: a token bucket by the clock of Redis in whole seconds, in two keys. The
 * script is written from its documentation ({@code replenishRate}, {@code burstCapacity}, {@code requestedTokens}) and is not its code.
 * The gateway uses Lettuce, too. As its documentation advises for rates below one per second, a call costs as many tokens as a window has
 * seconds.
 */
record SpringGateway(Workload workload) implements PeerScript {
    @Override
    public String name() {
        return "Spring Cloud Gateway on Lettuce";
    }

    @Override
    public String source() {
        return """
                -- KEYS: tokens, time of the last refill in seconds. ARGV: tokens per second, capacity, cost.
                -- Reply: 1 if allowed, remaining tokens.
                local rate, capacity, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
                local now = tonumber(redis.call('TIME')[1])
                local tokens = tonumber(redis.call('GET', KEYS[1]) or capacity)
                local refilled = tonumber(redis.call('GET', KEYS[2]) or 0)
                tokens = math.min(capacity, tokens + math.max(0, now - refilled) * rate)
                local allowed = 0
                if tokens >= cost then
                  tokens = tokens - cost
                  allowed = 1
                end
                local expiry = math.max(1, math.floor(2 * capacity / rate))
                redis.call('SETEX', KEYS[1], expiry, tokens)
                redis.call('SETEX', KEYS[2], expiry, now)
                return {allowed, tokens}
                """;
    }

    @Override
    public ScriptOutputType reply() {
        return ScriptOutputType.MULTI;
    }

    @Override
    public String[] keys(String limitKey, Duration window) {
        return new String[] {limitKey + ".tokens", limitKey + ".timestamp"};
    }

    @Override
    public byte[][] arguments(Duration window) {
        long cost = window.toSeconds();
        return PeerScript.numbers(workload.permits(), workload.permits() * cost, cost);
    }

    @Override
    public boolean allows(Object reply) {
        return ((List<?>) reply).get(0).equals(1L);
    }
}
