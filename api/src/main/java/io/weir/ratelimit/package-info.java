// SPDX-License-Identifier: Apache-2.0
/**
 * The API for applications: the {@link io.weir.ratelimit.RateLimit} binding, the {@link io.weir.ratelimit.RateLimiter} for code, and
 * their values.
 *
 * <p>Extensions implement the types of {@link io.weir.ratelimit.spi}. This package needs no container, Jakarta REST, MicroProfile Config
 * or Redis.
 */
@NullMarked
package io.weir.ratelimit;

import org.jspecify.annotations.NullMarked;
