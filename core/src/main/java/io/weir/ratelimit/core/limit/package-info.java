// SPDX-License-Identifier: Apache-2.0
/**
 * Limits: the state of each algorithm with its arithmetic, the calculation of quotas, and the receipts of both backends.
 *
 * <p>All times are whole microseconds of the backend's {@link io.weir.ratelimit.spi.TimeSource}.
 */
@NullMarked
package io.weir.ratelimit.core.limit;

import org.jspecify.annotations.NullMarked;
