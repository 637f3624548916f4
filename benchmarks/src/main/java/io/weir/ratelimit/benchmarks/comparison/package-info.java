// SPDX-License-Identifier: Apache-2.0
/**
 * The comparison with other limiters: contenders on one store, driven in rounds that take turns, each measured against the floor
 * of the same round. The programs are {@link io.weir.ratelimit.benchmarks.Comparison} and {@link
 * io.weir.ratelimit.benchmarks.MemoryPerKey}.
 */
@NullMarked
package io.weir.ratelimit.benchmarks.comparison;

import org.jspecify.annotations.NullMarked;
