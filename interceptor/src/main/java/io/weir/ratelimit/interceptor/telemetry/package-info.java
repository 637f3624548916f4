// SPDX-License-Identifier: Apache-2.0
/**
 * What an operator sees: metrics, attributes of spans, the log of refusals. The only package that knows a telemetry API, and it
 * loads classes of one only where the server has it.
 */
@NullMarked
package io.weir.ratelimit.interceptor.telemetry;

import org.jspecify.annotations.NullMarked;
