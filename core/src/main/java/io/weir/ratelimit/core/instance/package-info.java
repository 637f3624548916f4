// SPDX-License-Identifier: Apache-2.0
/** The assembled limiter of one application, with its repeated tasks, its summary and its warnings. */
@NullMarked
package io.weir.ratelimit.core.instance;

import org.jspecify.annotations.NullMarked;
