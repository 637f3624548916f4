// SPDX-License-Identifier: Apache-2.0
/** What can only be measured from within the Redis store's package. */
@NullMarked
package io.weir.ratelimit.redisson;

import org.jspecify.annotations.NullMarked;
