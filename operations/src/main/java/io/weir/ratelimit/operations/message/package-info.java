// SPDX-License-Identifier: Apache-2.0
/** The messages of this module. */
@NullMarked
package io.weir.ratelimit.operations.message;

import org.jspecify.annotations.NullMarked;
