// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.redisson.script.BlockCall;
import io.weir.ratelimit.redisson.script.BlockCall.Operation;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The blocks of keys on Redis. A call does not wait, and may be sent again until the deadline if Redis did not run it. The entries of the
 * cache become invalid when a block begins or ends.
 *
 * <p>The lease of this instance on a blocked key ends: its permits would be spent although the key is blocked.
 */
record RedisBlocks(LeasingBackend backend) implements BlocksKeys {
    @Override
    public CompletionStage<Duration> block(PolicyLimits policy, String storedKey, Duration duration) {
        BlockCall call = BlockCall.block(new Charge(policy, storedKey, 1), LimitState.blockMicros(duration));
        closeLease(call);
        return send(call)
                .whenComplete((done, failure) -> closeLease(call))
                .thenApply(result -> Micros.duration(result.leftMicros()));
    }

    @Override
    public CompletionStage<Void> unblock(PolicyLimits policy, String storedKey) {
        return send(BlockCall.unblock(new Charge(policy, storedKey, 1))).thenAccept(result -> {});
    }

    @Override
    public CompletionStage<Optional<Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        BlockCall call = BlockCall.count(new Charge(policy, storedKey, 1), rejections, rule);
        return send(call).thenApply(result -> {
            if (result.leftMicros() > 0) {
                closeLease(call);
            }
            return result.penalty() == 0
                    ? Optional.empty()
                    : Optional.of(new Penalty(Micros.duration(result.leftMicros()), result.penalty()));
        });
    }

    private void closeLease(BlockCall call) {
        CompletableFuture<Void> unused = backend.leases().close(call.charge(), false);
    }

    /** Returns the charges with the keys of all that Redis keeps about the key of a charge. */
    static List<Charge> keysOf(Charge charge) {
        return BlockCall.unblock(charge).keys();
    }

    private CompletableFuture<BlockCall.Result> send(BlockCall call) {
        StateUpdates updates = backend.store().updates();
        updates.requireClosed(List.of(call.charge()));
        List<String> changed = List.of(updates.keys().of(call.charge()));
        boolean counts = call.operation() == Operation.COUNT;
        if (!counts) {
            updates.cache().invalidate(changed);
        }
        CompletableFuture<BlockCall.Result> invalidated = updates.scripts()
                .send(
                        Script.BLOCK,
                        updates.keys().of(call.keys()),
                        call::encode,
                        updates.await().deadlineFromNow())
                .thenApply(BlockCall::decode)
                .whenComplete((result, failure) -> {
                    // A count invalidates only if it has found a block, since most rejections repeat a known one.
                    if (!counts || (result != null && result.leftMicros() > 0)) {
                        updates.cache().invalidate(changed);
                    }
                });
        return BlockingAwait.byDeadline(invalidated, updates.await().deadline());
    }
}
