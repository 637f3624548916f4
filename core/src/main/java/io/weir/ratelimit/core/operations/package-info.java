// SPDX-License-Identifier: Apache-2.0
/** The data of instances in a shared backend beside limits: their presence, their reports and the runtime changes. */
@NullMarked
package io.weir.ratelimit.core.operations;

import org.jspecify.annotations.NullMarked;
