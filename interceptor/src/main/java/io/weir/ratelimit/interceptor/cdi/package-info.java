// SPDX-License-Identifier: Apache-2.0
/** The entry point for beans, and the deployment: it finds methods, checks configuration and annotations, and creates the engine. */
@NullMarked
package io.weir.ratelimit.interceptor.cdi;

import org.jspecify.annotations.NullMarked;
