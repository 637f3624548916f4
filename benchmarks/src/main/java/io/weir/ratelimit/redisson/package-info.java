// SPDX-License-Identifier: Apache-2.0
/** Benchmarks that need package-private types of the Redis backend. */
@NullMarked
package io.weir.ratelimit.redisson;

import org.jspecify.annotations.NullMarked;
