// SPDX-License-Identifier: Apache-2.0
/**
 * What an extender implements or calls: stores, keys, listeners, and the arithmetic of the algorithms that every store
 * shares.
 *
 * <p>Times are whole microseconds of one {@link io.weir.ratelimit.spi.TimeSource} per store. An application that only limits
 * calls needs nothing of this package.
 */
@NullMarked
package io.weir.ratelimit.spi;

import org.jspecify.annotations.NullMarked;
