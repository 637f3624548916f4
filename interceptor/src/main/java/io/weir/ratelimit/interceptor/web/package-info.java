// SPDX-License-Identifier: Apache-2.0
/** The parts that a servlet container finds and starts: listeners, initializers and the quota resource. */
@NullMarked
package io.weir.ratelimit.interceptor.web;

import org.jspecify.annotations.NullMarked;
