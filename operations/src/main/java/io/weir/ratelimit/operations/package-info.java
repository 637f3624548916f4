// SPDX-License-Identifier: Apache-2.0
/**
 * The operations of an operator on one instance: list the policies, look up a caller, reset a key.
 */
@NullMarked
package io.weir.ratelimit.operations;

import org.jspecify.annotations.NullMarked;
