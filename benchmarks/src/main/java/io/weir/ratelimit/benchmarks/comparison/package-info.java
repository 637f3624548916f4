// SPDX-License-Identifier: Apache-2.0
/**
 * The comparison with other limiters. Contenders on one Redis take turns in rounds, and each is measured relative to the floor of the same
 * round. The programs are {@link io.weir.ratelimit.benchmarks.Comparison} and {@link
 * io.weir.ratelimit.benchmarks.MemoryPerKey}.
 */
@NullMarked
package io.weir.ratelimit.benchmarks.comparison;

import org.jspecify.annotations.NullMarked;
