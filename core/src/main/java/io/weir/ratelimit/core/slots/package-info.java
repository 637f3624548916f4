// SPDX-License-Identifier: Apache-2.0
/** Held concurrency slots and the calls that wait. */
@NullMarked
package io.weir.ratelimit.core.slots;

import org.jspecify.annotations.NullMarked;
