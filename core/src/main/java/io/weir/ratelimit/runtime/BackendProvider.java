// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.runtime;

import io.weir.ratelimit.spi.RateLimitBackend;
import java.util.Optional;
import java.util.function.Function;

/** A service that creates a backend in plain Java. {@link java.util.ServiceLoader} finds it. In a container, a backend is a bean. */
@FunctionalInterface
public interface BackendProvider {
    /** Creates a backend, which does not connect before its start, from the values of properties that are set. */
    RateLimitBackend create(Function<String, Optional<String>> properties);
}
