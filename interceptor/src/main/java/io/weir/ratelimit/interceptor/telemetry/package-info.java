// SPDX-License-Identifier: Apache-2.0
/**
 * Telemetry: metrics, span attributes and the log of rejections. Only this package uses telemetry APIs. It loads the classes of an API
 * only if the server has it.
 */
@NullMarked
package io.weir.ratelimit.interceptor.telemetry;

import org.jspecify.annotations.NullMarked;
