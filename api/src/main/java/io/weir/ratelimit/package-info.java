// SPDX-License-Identifier: Apache-2.0
/**
 * What an application names to limit the rate of its calls: the {@link io.weir.ratelimit.RateLimit} binding, the {@link
 * io.weir.ratelimit.RateLimiter} for code, and the values they answer with.
 *
 * <p>Extensions implement {@link io.weir.ratelimit.spi} instead. Nothing here needs a container, Jakarta REST,
 * MicroProfile Config or Redis.
 */
@NullMarked
package io.weir.ratelimit;

import org.jspecify.annotations.NullMarked;
