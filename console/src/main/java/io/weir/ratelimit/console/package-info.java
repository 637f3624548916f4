// SPDX-License-Identifier: Apache-2.0
/** The operators' page of an instance, and the JSON behind it. Nothing here is for applications to call. */
@NullMarked
package io.weir.ratelimit.console;

import org.jspecify.annotations.NullMarked;
