// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.BlockCall;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Sends calls about blocks, without waiting. A call may be sent again until the deadline if Redis did not run it. The entries of the cache
 * become invalid when a block begins or ends.
 */
record BlockSender(ScriptSender scripts, RedisKeys keys, Duration deadline, RejectionCache cache) {
    CompletableFuture<BlockCall.Result> send(BlockCall call) {
        List<String> changed = List.of(keys.of(call.charge()));
        boolean counts = call.operation() == BlockCall.Operation.COUNT;
        if (!counts) {
            cache.invalidate(changed);
        }
        CompletableFuture<BlockCall.Result> sent =
                scripts.send(call, keys.of(call.keys()), System.nanoTime() + deadline.toNanos());
        CompletableFuture<BlockCall.Result> invalidated = sent.whenComplete((result, failure) -> {
            // A count invalidates only if it has found a block, since most rejections repeat a known one.
            if (!counts || (result != null && result.leftMicros() > 0)) {
                cache.invalidate(changed);
            }
        });
        return BlockingAwait.byDeadline(invalidated, deadline);
    }
}
