// SPDX-License-Identifier: Apache-2.0
/**
 * The entry point for beans and the wiring of a deployment: finds annotated methods, checks configuration and annotations
 * together, and makes the engine.
 */
@NullMarked
package io.weir.ratelimit.interceptor.cdi;

import org.jspecify.annotations.NullMarked;
