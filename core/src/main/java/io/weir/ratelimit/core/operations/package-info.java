// SPDX-License-Identifier: Apache-2.0
/** The data of operators in a shared backend: the reports of instances and the runtime changes. */
@NullMarked
package io.weir.ratelimit.core.operations;

import org.jspecify.annotations.NullMarked;
