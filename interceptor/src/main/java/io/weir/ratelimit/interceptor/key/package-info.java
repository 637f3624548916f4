// SPDX-License-Identifier: Apache-2.0
/**
 * Who makes a call: key expressions, the terms they are made of, and the form in which identities are stored.
 *
 * <p>Driven by a {@link io.weir.ratelimit.spi.CallContext}; knows no container.
 */
@NullMarked
package io.weir.ratelimit.interceptor.key;

import org.jspecify.annotations.NullMarked;
