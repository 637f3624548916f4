// SPDX-License-Identifier: Apache-2.0
/** What an operator can see of one instance and do about it, for pages and consoles. */
@NullMarked
package io.weir.ratelimit.interceptor.operate;

import org.jspecify.annotations.NullMarked;
