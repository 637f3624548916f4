// SPDX-License-Identifier: Apache-2.0
/** Rejections that this instance knows, so that it rejects further calls of a key without a call of Redis. */
@NullMarked
package io.weir.ratelimit.redisson.rejection;

import org.jspecify.annotations.NullMarked;
