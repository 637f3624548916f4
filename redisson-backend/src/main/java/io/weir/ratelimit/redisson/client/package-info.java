// SPDX-License-Identifier: Apache-2.0
/** The client of Redis: its settings, its connections, and how it calls a script and reports failures. */
@NullMarked
package io.weir.ratelimit.redisson.client;

import org.jspecify.annotations.NullMarked;
