// SPDX-License-Identifier: Apache-2.0
/** Listeners, thresholds and penalties, which follow a decision. */
@NullMarked
package io.weir.ratelimit.core.events;

import org.jspecify.annotations.NullMarked;
