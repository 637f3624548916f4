// SPDX-License-Identifier: Apache-2.0
/** The assembled limiter of an application, and what hosts and plug-ins provide to it. */
@NullMarked
package io.weir.ratelimit.runtime;

import org.jspecify.annotations.NullMarked;
