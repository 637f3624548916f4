// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.redisson.client.RedisFailures;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A decision over charges in several slots of a cluster, which no single script call can cover. There are two phases:
 *
 * <ol>
 *   <li>All slots are peeked at, in parallel. If a slot has no room, the call is rejected, and nothing has been written.
 *   <li>The charges are spent. The slot with the least room comes first and alone, since there a race is most likely to be lost. The
 *       others follow in parallel.
 * </ol>
 *
 * <p>If a race is lost, or the deadline passes, the charges that were spent are refunded.
 */
final class CrossSlotAcquire implements PendingCall<Decision> {

    /** The charges of one slot. */
    private static final class SlotPart {
        final List<Charge> charges = new ArrayList<>();

        /** The index of each charge in the call. */
        final List<Integer> indexes = new ArrayList<>();

        volatile @Nullable AcquireRequest request;

        @Nullable
        AcquireResult peeked;

        @Nullable
        AcquireResult spent;

        AcquireResult peeked() {
            return Objects.requireNonNull(peeked);
        }

        AcquireResult spent() {
            return Objects.requireNonNull(spent);
        }

        boolean isSpent() {
            return spent != null && spent.spent();
        }

        /** Returns how many calls like this one the limits have room for. */
        double room() {
            double least = Double.MAX_VALUE;
            for (ChargeStates each : peeked().charges()) {
                List<Limit> limits = each.charge().policy().limits();
                for (int i = 0; i < limits.size(); i++) {
                    long remaining = each.states()
                            .get(i)
                            .remaining(limits.get(i), peeked().time().micros());
                    least = Math.min(least, (double) remaining / each.charge().cost());
                }
            }
            return least;
        }

        /** Returns the result that a rejected call reports: the state without this call. */
        AcquireResult unspent() {
            return spent == null || spent.spent() ? peeked() : spent;
        }
    }

    private final int charges;
    private final AcquireSteps steps;
    private final long deadlineNanos;
    private final List<SlotPart> parts;
    private final CompletableFuture<Decision> decision = new CompletableFuture<>();

    /** Creates a decision about charges in more than one slot that is not started; charges may be spent until its deadline. */
    CrossSlotAcquire(List<Charge> charges, ToIntFunction<Charge> slots, AcquireSteps steps, long deadlineNanos) {
        this.charges = charges.size();
        this.steps = steps;
        this.deadlineNanos = deadlineNanos;
        Map<Integer, SlotPart> bySlot = new LinkedHashMap<>();
        for (int i = 0; i < charges.size(); i++) {
            SlotPart part = bySlot.computeIfAbsent(slots.applyAsInt(charges.get(i)), slot -> new SlotPart());
            part.charges.add(charges.get(i));
            part.indexes.add(i);
        }
        this.parts = List.copyOf(bySlot.values());
    }

    /** Starts the decision. */
    CrossSlotAcquire start() {
        then(request(parts, Operation.PEEK), failure -> {
            if (failure != null) {
                cacheRejections();
                decision.completeExceptionally(RedisFailures.toBackendException(failure));
            } else if (!parts.stream().allMatch(part -> part.peeked().hasRoom())) {
                parts.forEach(part -> steps.cacheRejected(Objects.requireNonNull(part.request)));
                decision.complete(rejected());
            } else if (!isOver()) {
                spend(parts.stream()
                        .sorted(Comparator.comparingDouble(SlotPart::room))
                        .toList());
            }
        });
        return this;
    }

    /** Caches the states of slots without room although others have not replied: the call is rejected until they have room. */
    private void cacheRejections() {
        for (SlotPart part : parts) {
            AcquireRequest request = part.request;
            if (request != null
                    && request.isDone()
                    && !request.isCompletedExceptionally()
                    && !request.join().hasRoom()) {
                steps.cacheRejected(request);
            }
        }
    }

    private void spend(List<SlotPart> leastRoomFirst) {
        SlotPart first = leastRoomFirst.get(0);
        then(request(List.of(first), Operation.SPEND), failure -> {
            if (failure != null || !first.isSpent() || isOver()) {
                finish(failure);
            } else {
                then(request(leastRoomFirst.subList(1, leastRoomFirst.size()), Operation.SPEND), this::finish);
            }
        });
    }

    private void then(CompletionStage<Void> replies, Consumer<@Nullable Throwable> next) {
        replies.whenComplete((all, failure) -> {
            try {
                next.accept(failure);
            } catch (RuntimeException e) {
                decision.completeExceptionally(RedisFailures.toBackendException(e));
            }
        });
    }

    /**
     * Sends a request to some slots in parallel. The returned stage completes when all have replied. If one cannot be sent, it counts as
     * failed, since others may have been spent.
     */
    private CompletionStage<Void> request(List<SlotPart> some, Operation operation) {
        List<CompletableFuture<?>> replies = new ArrayList<>();
        for (SlotPart part : some) {
            try {
                AcquireRequest request = steps.create(part.charges, operation);
                steps.send(request);
                part.request = request;
                replies.add(request.thenAccept(result -> {
                    if (operation == Operation.PEEK) {
                        part.peeked = result;
                    } else {
                        part.spent = result;
                    }
                    if (result.spent()) {
                        steps.cacheSpent(request);
                    }
                }));
                // A thread that cancelled the decision meanwhile has not seen this request.
                if (decision.isDone()) {
                    cancel(part);
                }
            } catch (RuntimeException e) {
                replies.add(CompletableFuture.failedFuture(e));
            }
        }
        return CompletableFuture.allOf(replies.toArray(CompletableFuture<?>[]::new));
    }

    /** Returns whether nothing more is to be spent, and ends the decision if the deadline has passed. */
    private boolean isOver() {
        if (steps.nanoTime() - deadlineNanos >= 0) {
            decision.completeExceptionally(new BackendException(
                    BackendException.Reason.TIMEOUT, "The deadline passed before all charges were spent.", null));
        }
        return decision.isDone();
    }

    private void finish(@Nullable Throwable failure) {
        boolean allSpent = parts.stream().allMatch(SlotPart::isSpent);
        if (!allSpent) {
            refundSpent();
        }
        if (failure != null) {
            decision.completeExceptionally(RedisFailures.toBackendException(failure));
        } else if (!allSpent) {
            decision.complete(rejected());
        } else if (!decision.complete(allowed())) {
            refundSpent();
        }
    }

    private void refundSpent() {
        for (SlotPart part : parts) {
            if (part.isSpent()) {
                steps.refund(new BackendReceipt(part.spent().charges()));
            }
        }
    }

    private Decision allowed() {
        ChargeStates[] spent = new ChargeStates[charges];
        long wait = 0;
        for (SlotPart part : parts) {
            wait = Math.max(wait, part.spent().waitMicros());
            for (int i = 0; i < part.indexes.size(); i++) {
                spent[part.indexes.get(i)] = part.spent().charges().get(i);
            }
        }
        return new Decision.Allowed(
                results(parts.stream().map(SlotPart::spent).toList()), new BackendReceipt(List.of(spent)), wait);
    }

    private Decision rejected() {
        return new Decision.Rejected(
                results(parts.stream().map(SlotPart::unspent).toList()));
    }

    /** Returns the results of one reply per slot, in the order of the charges. */
    private List<ChargeResult> results(List<AcquireResult> replies) {
        ChargeResult[] byCharge = new ChargeResult[charges];
        for (int p = 0; p < replies.size(); p++) {
            List<ChargeResult> ofSlot = replies.get(p).results();
            List<Integer> indexes = parts.get(p).indexes;
            for (int i = 0; i < indexes.size(); i++) {
                byCharge[indexes.get(i)] = ofSlot.get(i);
            }
        }
        return List.of(byCharge);
    }

    @Override
    public CompletableFuture<Decision> completion() {
        return decision;
    }

    @Override
    public Decision result() {
        return decision.join();
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    /** Cancels the requests in progress. Charges that are spent nevertheless are refunded as soon as that is known. */
    @Override
    public void cancel(BackendException reason) {
        cacheRejections();
        decision.completeExceptionally(reason);
        parts.forEach(this::cancel);
    }

    private void cancel(SlotPart part) {
        AcquireRequest request = part.request;
        if (request != null && !request.isDone()) {
            steps.cancel(request);
        }
    }
}
