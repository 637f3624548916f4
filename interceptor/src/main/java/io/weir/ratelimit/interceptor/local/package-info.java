// SPDX-License-Identifier: Apache-2.0
/**
 * The store in process, for one instance and for a first try without Redis.
 *
 * <p>Knows neither Jakarta REST nor CDI nor telemetry.
 */
@NullMarked
package io.weir.ratelimit.interceptor.local;

import org.jspecify.annotations.NullMarked;
