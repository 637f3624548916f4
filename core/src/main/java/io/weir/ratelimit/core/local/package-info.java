// SPDX-License-Identifier: Apache-2.0
/**
 * The in-process backend, for a single instance and for a first try without Redis.
 */
@NullMarked
package io.weir.ratelimit.core.local;

import org.jspecify.annotations.NullMarked;
