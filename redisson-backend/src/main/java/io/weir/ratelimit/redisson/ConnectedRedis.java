// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.redisson.client.RedisClient;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.lease.Timer;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;

/** The parts that use one client of Redis. */
record ConnectedRedis(LeasingBackend backend, RedisFleetStore fleet, ChangeStore changes) {
    /**
     * Assembles the parts. The client connects in the background. With another clock of the scripts than that of Redis, nothing is decided
     * from memory.
     */
    static ConnectedRedis of(
            RedisClient redis,
            String namespace,
            Duration deadline,
            TimeSource time,
            Breaker breaker,
            Timer timer,
            BackendListener listener) {
        RedisKeys keys = RedisKeys.of(namespace);
        boolean redisClock = time == ScriptSender.REDIS_CLOCK;
        RejectionCache cache = redisClock ? new RejectionCache(keys) : RejectionCache.disabled(keys);
        FleetCalls calls = new FleetCalls(redis, deadline, breaker);
        RedisStore store = new RedisStore(redis, keys, deadline, time, cache, listener, breaker, timer);
        return new ConnectedRedis(
                new LeasingBackend(store, keys, cache, listener, redisClock, timer),
                new RedisFleetStore(calls, namespace),
                new RedisChangeStore(calls, namespace));
    }
}
