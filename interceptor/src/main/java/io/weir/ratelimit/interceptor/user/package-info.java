// SPDX-License-Identifier: Apache-2.0
/** The users that the server has authenticated, and their claims. */
@NullMarked
package io.weir.ratelimit.interceptor.user;

import org.jspecify.annotations.NullMarked;
