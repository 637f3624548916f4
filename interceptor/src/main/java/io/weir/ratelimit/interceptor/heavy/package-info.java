// SPDX-License-Identifier: Apache-2.0
/** Which keys were refused, and called, most often of late: estimates in fixed memory, which the engine feeds with each decision. */
@NullMarked
package io.weir.ratelimit.interceptor.heavy;

import org.jspecify.annotations.NullMarked;
