// SPDX-License-Identifier: Apache-2.0
/**
 * The shared store: one atomic script on Redis per decision, through Redisson.
 *
 * <p>An application needs to name nothing of this package; it adds the jar and sets {@code ratelimit.redis.address}.
 */
@NullMarked
package io.weir.ratelimit.redisson;

import org.jspecify.annotations.NullMarked;
