// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.client.RedisClient;
import java.time.Duration;
import org.redisson.api.RedissonClient;

/** A Redis backend without the rejection cache, which shows the cost of rejections by Redis. */
public final class UncachedBackend {
    private UncachedBackend() {}

    /** Creates a backend on a client, which it does not close. */
    public static RedissonBackend on(RedissonClient client, String namespace, Duration deadline) {
        // The backend uses the cache only with its own constant for the Redis clock, not with this equivalent lambda.
        return new RedissonBackend(
                new RedisClient(() -> client, false, namespace, deadline), namespace, deadline, () -> 0);
    }
}
