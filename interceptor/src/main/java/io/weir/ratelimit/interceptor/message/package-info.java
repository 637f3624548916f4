// SPDX-License-Identifier: Apache-2.0
/** The numbered messages of this module. */
@NullMarked
package io.weir.ratelimit.interceptor.message;

import org.jspecify.annotations.NullMarked;
