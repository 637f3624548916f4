// SPDX-License-Identifier: Apache-2.0
/** An application that calls limited beans on several threads, for users and for visitors. */
@NullMarked
package io.weir.ratelimit.it.callers;

import org.jspecify.annotations.NullMarked;
