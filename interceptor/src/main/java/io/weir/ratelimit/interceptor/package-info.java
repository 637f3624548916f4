// SPDX-License-Identifier: Apache-2.0
/** The test for the APIs that not every server has. */
@NullMarked
package io.weir.ratelimit.interceptor;

import org.jspecify.annotations.NullMarked;
