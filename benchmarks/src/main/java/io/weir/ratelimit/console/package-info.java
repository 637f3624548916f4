// SPDX-License-Identifier: Apache-2.0
/** Measurements that need package-private types of the console. */
@NullMarked
package io.weir.ratelimit.console;

import org.jspecify.annotations.NullMarked;
