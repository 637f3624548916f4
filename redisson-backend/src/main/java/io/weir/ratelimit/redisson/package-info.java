// SPDX-License-Identifier: Apache-2.0
/**
 * The Redis backend: one atomic script per decision, through Redisson.
 *
 * <p>An application names no class of this package. It adds the jar and sets {@code ratelimit.redis.address}.
 */
@NullMarked
package io.weir.ratelimit.redisson;

import org.jspecify.annotations.NullMarked;
