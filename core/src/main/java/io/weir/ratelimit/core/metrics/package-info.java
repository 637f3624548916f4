// SPDX-License-Identifier: Apache-2.0
/** The listeners that record metrics and write the messages about decisions. */
@NullMarked
package io.weir.ratelimit.core.metrics;

import org.jspecify.annotations.NullMarked;
