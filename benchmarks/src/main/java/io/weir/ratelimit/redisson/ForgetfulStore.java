// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.time.Duration;
import org.redisson.api.RedissonClient;

/** The store without its memory of refusals, to see what a refusal costs that is sent to Redis. */
public final class ForgetfulStore {
    private ForgetfulStore() {}

    /** A store on a client, which it does not close. */
    public static RedissonBackend on(RedissonClient client, String namespace, Duration deadline) {
        // Refusals are remembered under Redis's clock only; this one reads it as well, under another name.
        return new RedissonBackend(
                new RedisClient(() -> client, false, namespace, deadline), namespace, deadline, () -> 0);
    }
}
