// SPDX-License-Identifier: Apache-2.0
/**
 * Keys: key expressions, their terms, client addresses, and the encoding of an {@link io.weir.ratelimit.Identity} into a stored key.
 *
 * <p>Plain Java; a {@link io.weir.ratelimit.spi.CallContext} describes the call.
 */
@NullMarked
package io.weir.ratelimit.core.key;

import org.jspecify.annotations.NullMarked;
