// SPDX-License-Identifier: Apache-2.0
/**
 * Benchmarks of decisions with the local backend and with Redis. The document {@code docs/reference/performance.md} has the results and the
 * commands. This module is not released.
 */
@NullMarked
package io.weir.ratelimit.benchmarks;

import org.jspecify.annotations.NullMarked;
