// SPDX-License-Identifier: Apache-2.0
/**
 * Policies and the settings around them: read from MicroProfile Config and from annotations, checked together, once, into
 * immutable values.
 *
 * <p>Knows neither Jakarta REST nor CDI nor telemetry.
 */
@NullMarked
package io.weir.ratelimit.interceptor.policy;

import org.jspecify.annotations.NullMarked;
