// SPDX-License-Identifier: Apache-2.0
/** Requests and replies of the scripts, and the batches that one script call decides. */
@NullMarked
package io.weir.ratelimit.redisson.script;

import org.jspecify.annotations.NullMarked;
