// SPDX-License-Identifier: Apache-2.0
/**
 * The interfaces for extensions and backends, and the values that they exchange with Weir.
 *
 * <p>An application that only limits calls does not need this package. All times are whole microseconds, and each backend has one
 * {@link io.weir.ratelimit.spi.TimeSource}.
 */
@NullMarked
package io.weir.ratelimit.spi;

import org.jspecify.annotations.NullMarked;
