// SPDX-License-Identifier: Apache-2.0
/**
 * The keys with the most calls and the most rejections of the last minutes, estimated in fixed memory.
 */
@NullMarked
package io.weir.ratelimit.core.topkeys;

import org.jspecify.annotations.NullMarked;
