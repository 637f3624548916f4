// SPDX-License-Identifier: Apache-2.0
/** The pipeline: policies, keys, backend, listeners, in that order. */
@NullMarked
package io.weir.ratelimit.core.engine;

import org.jspecify.annotations.NullMarked;
