// SPDX-License-Identifier: Apache-2.0
/** Decisions while the backend does not answer, and its health. */
@NullMarked
package io.weir.ratelimit.core.fallback;

import org.jspecify.annotations.NullMarked;
