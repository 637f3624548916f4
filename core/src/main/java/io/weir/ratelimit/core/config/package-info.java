// SPDX-License-Identifier: Apache-2.0
/** Configuration: the table of properties, their readers, and the problems of their values. */
@NullMarked
package io.weir.ratelimit.core.config;

import org.jspecify.annotations.NullMarked;
