// SPDX-License-Identifier: Apache-2.0
/** Keys: key expressions, their terms, client addresses, and the encoding of an {@link io.weir.ratelimit.Identity} into a stored key. */
@NullMarked
package io.weir.ratelimit.core.key;

import org.jspecify.annotations.NullMarked;
