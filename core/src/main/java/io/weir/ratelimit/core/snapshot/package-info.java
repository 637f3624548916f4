// SPDX-License-Identifier: Apache-2.0
/** The policies of one state of the configuration, their checks against methods, and the reload. */
@NullMarked
package io.weir.ratelimit.core.snapshot;

import org.jspecify.annotations.NullMarked;
