// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.runtime.BackendProvider;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.Optional;
import java.util.function.Function;

/** The provider of the Redis backend in plain Java. */
public final class RedissonBackendProvider implements BackendProvider {
    @Override
    public RateLimitBackend create(Function<String, Optional<String>> properties) {
        return new RedissonBackend(properties::apply);
    }
}
