// SPDX-License-Identifier: Apache-2.0
/**
 * The pipeline: policies, keys, store, listeners, in that order. Plain Java.
 *
 * <p>Knows neither Jakarta REST nor CDI nor telemetry.
 */
@NullMarked
package io.weir.ratelimit.interceptor.engine;

import org.jspecify.annotations.NullMarked;
