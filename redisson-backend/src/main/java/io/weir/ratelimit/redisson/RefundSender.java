// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.redisson.script.RefundCodec;
import io.weir.ratelimit.redisson.script.Script;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Sends refunds, settlements and resets, without waiting. */
final class RefundSender {
    /** The number of refunds in flight whose outcome is not awaited. It bounds the queue in front of a slow Redis. */
    static final int MAX_IN_FLIGHT = 1_024;

    private final ScriptSender scripts;
    private final RedisKeys keys;
    private final Duration deadline;
    private final RejectionCache cache;
    private final SlotCalls slots;
    private final Semaphore inFlight = new Semaphore(MAX_IN_FLIGHT);

    /**
     * Creates a sender. A refund may be sent again until the deadline if Redis did not run it, and a bounded one completes by then. The
     * entries of refunded keys in the cache become invalid.
     */
    RefundSender(ScriptSender scripts, RedisKeys keys, Duration deadline, RejectionCache cache, SlotCalls slots) {
        this.slots = slots;
        this.scripts = scripts;
        this.keys = keys;
        this.deadline = deadline;
        this.cache = cache;
    }

    CompletableFuture<Void> send(Refund refund) {
        return send(refund, System.nanoTime() + deadline.toNanos());
    }

    /** Sends a refund, which is not sent again after an instant of {@link System#nanoTime}. */
    CompletableFuture<Void> send(Refund refund, long deadlineNanos) {
        List<String> storedKeys = keys.of(refund.charges());
        cache.invalidate(storedKeys);
        return scripts.send(
                        Script.REFUND, storedKeys, nowMicros -> RefundCodec.encode(refund, nowMicros), deadlineNanos)
                .thenAccept(RefundCodec::check)
                .whenComplete((done, failure) -> cache.invalidate(storedKeys));
    }

    /** Claims the charges of a receipt, refunds them with one script call per slot of a cluster, and releases their slots. */
    CompletableFuture<Void> send(BackendReceipt receipt) {
        Map<Integer, List<ChargeStates>> bySlot = new LinkedHashMap<>();
        List<ChargeStates> claimed = receipt.claim();
        for (ChargeStates charged : claimed) {
            if (hasNoPermits(charged)) {
                continue;
            }
            int slot = scripts.redis().slot(keys.of(charged.charge()));
            bySlot.computeIfAbsent(slot, any -> new ArrayList<>()).add(charged);
        }
        CompletableFuture<Void> refunded = CompletableFuture.allOf(bySlot.values().stream()
                .map(charged -> send(Refund.byReceipt(charged)))
                .toArray(CompletableFuture<?>[]::new));
        return receipt.holdsSlots() ? CompletableFuture.allOf(refunded, slots.release(claimed)) : refunded;
    }

    /** Releases the slots of a receipt whose refund was not sent, or has failed: nobody else has the receipt. */
    void releaseUnclaimed(BackendReceipt receipt) {
        slots.releaseUnclaimed(receipt);
    }

    /** Returns whether a charge has only a slot. */
    private static boolean hasNoPermits(ChargeStates charged) {
        return charged.charge().policy().withoutConcurrency().isEmpty();
    }

    /**
     * Settles the selected charges of a receipt, with one script call per slot; a second one if some actual costs are greater and others
     * less.
     */
    private Settlement start(BackendReceipt receipt, Predicate<Charge> selection, long actualCost) {
        List<ChargeStates> due = receipt.settle(selection, actualCost);
        Map<List<Integer>, List<ChargeStates>> bySlot = new LinkedHashMap<>();
        for (ChargeStates charged : due) {
            int direction = Long.compare(actualCost, charged.charge().cost());
            if (direction != 0 && !hasNoPermits(charged)) {
                int slot = scripts.redis().slot(keys.of(charged.charge()));
                bySlot.computeIfAbsent(List.of(slot, direction), any -> new ArrayList<>())
                        .add(charged);
            }
        }
        return new Settlement(
                due.stream().map(ChargeStates::charge).toList(),
                CompletableFuture.allOf(bySlot.values().stream()
                        .map(charged -> send(Refund.settlement(charged, actualCost)))
                        .toArray(CompletableFuture<?>[]::new)));
    }

    /** Settles the selected charges of a receipt, unless too many refunds are in flight. Completes with the charges by the deadline. */
    CompletableFuture<List<Charge>> settle(BackendReceipt receipt, Predicate<Charge> selection, long actualCost) {
        List<Charge> settled = new ArrayList<>();
        return bounded(() -> {
                    Settlement sent = start(receipt, selection, actualCost);
                    settled.addAll(sent.charges());
                    return sent.completion();
                })
                .whenComplete((done, failure) -> {
                    if (failure != null) {
                        receipt.settlementFailed(settled);
                    }
                })
                .thenApply(done -> settled);
    }

    /** Charges that are being settled. */
    private record Settlement(List<Charge> charges, CompletableFuture<Void> completion) {}

    /** Refunds a receipt as {@link #send(BackendReceipt)} does, unless too many refunds are in flight. Completes by the deadline. */
    CompletableFuture<Void> sendBounded(BackendReceipt receipt) {
        return bounded(() -> send(receipt));
    }

    /** Sends a refund, unless too many are in flight. Completes by the deadline. */
    CompletableFuture<Void> sendBounded(Refund refund) {
        return bounded(() -> send(refund));
    }

    /** Sends refunds, unless too many are in flight. Completes by the deadline. */
    CompletableFuture<Void> bounded(Supplier<CompletableFuture<Void>> send) {
        if (!inFlight.tryAcquire()) {
            return CompletableFuture.failedFuture(new BackendException(
                    Reason.FULL, "Too many refunds are in flight. The refund or the settlement was not sent.", null));
        }
        CompletableFuture<Void> sent;
        try {
            sent = send.get();
        } catch (RuntimeException e) {
            sent = CompletableFuture.failedFuture(e);
        }
        CompletionStage<Void> completed = sent;
        // Until the client completes it, the refund takes resources, even if its deadline has passed.
        completed.whenComplete((done, failure) -> inFlight.release());
        return BlockingAwait.byDeadline(sent, deadline);
    }
}
