// SPDX-License-Identifier: Apache-2.0
/**
 * What a decision costs, in process and on Redis. Figures and how to get them are in {@code docs/reference/performance.md}.
 *
 * <p>Nothing here is released.
 */
@NullMarked
package io.weir.ratelimit.benchmarks;

import org.jspecify.annotations.NullMarked;
