// SPDX-License-Identifier: Apache-2.0
/** What follows a decision: listeners, thresholds and penalties. */
@NullMarked
package io.weir.ratelimit.core.events;

import org.jspecify.annotations.NullMarked;
