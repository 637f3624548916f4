// SPDX-License-Identifier: Apache-2.0
/** One call on its way: the policies that apply to it, what it has charged, and what its response says. */
@NullMarked
package io.weir.ratelimit.core.request;

import org.jspecify.annotations.NullMarked;
