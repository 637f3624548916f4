// SPDX-License-Identifier: Apache-2.0
/** Runtime changes: what an operator changes without a deployment, on all instances. */
@NullMarked
package io.weir.ratelimit.operations.changes;

import org.jspecify.annotations.NullMarked;
