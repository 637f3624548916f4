// SPDX-License-Identifier: Apache-2.0
/** What a shared backend stores for operators: the reports of instances and the runtime changes. */
@NullMarked
package io.weir.ratelimit.core.operations;

import org.jspecify.annotations.NullMarked;
