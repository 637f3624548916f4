// SPDX-License-Identifier: Apache-2.0
/** Policies: immutable values from the configuration and the annotations, and the limits of single keys. */
@NullMarked
package io.weir.ratelimit.core.policy;

import org.jspecify.annotations.NullMarked;
