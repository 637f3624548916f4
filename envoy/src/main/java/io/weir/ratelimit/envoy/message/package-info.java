// SPDX-License-Identifier: Apache-2.0
/** The messages of this module. */
@NullMarked
package io.weir.ratelimit.envoy.message;

import org.jspecify.annotations.NullMarked;
