// SPDX-License-Identifier: Apache-2.0
/** Leases: permits that this instance has of a key and spends without a call of Redis. */
@NullMarked
package io.weir.ratelimit.redisson.lease;

import org.jspecify.annotations.NullMarked;
