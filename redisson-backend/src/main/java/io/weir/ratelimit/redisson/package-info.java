// SPDX-License-Identifier: Apache-2.0
/**
 * The Redis backend: one atomic script per decision, through Redisson.
 *
 * <p>The names {@code SingleSlotCall}, {@code CrossSlotAcquire} and {@code CrossSlotPeek} refer to slots of a cluster. The names {@code
 * SlotCalls}, {@code SlotSender} and {@code SlotCodec} refer to slots of running calls under a concurrency limit.
 *
 * <p>An application names no class of this package. It adds the jar and sets {@code ratelimit.redis.address}.
 */
@NullMarked
package io.weir.ratelimit.redisson;

import org.jspecify.annotations.NullMarked;
