// SPDX-License-Identifier: Apache-2.0
/**
 * Numbered messages: each module keeps the level and the text of its messages in one resource,
 * {@code META-INF/weir/messages/<module>.properties}.
 */
@NullMarked
package io.weir.ratelimit.core.message;

import org.jspecify.annotations.NullMarked;
