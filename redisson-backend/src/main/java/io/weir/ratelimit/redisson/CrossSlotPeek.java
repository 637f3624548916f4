// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Quota;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToIntFunction;

/**
 * A call that reads the quotas of charges of any slots, by one request per slot. The requests are in progress at the same time, and
 * those without a cluster are one request.
 */
final class CrossSlotPeek implements PendingCall<List<Quota>> {
    /** The charges of one slot, and the position of each in the call. */
    private record SlotPart(List<Charge> charges, List<Integer> indexes) {}

    private final List<SlotPart> parts;
    private final List<AcquireRequest> requests = new ArrayList<>();
    private final int charges;
    private final AcquireSteps steps;
    private final long deadlineNanos;
    private CompletableFuture<Void> completion = CompletableFuture.completedFuture(null);

    CrossSlotPeek(List<Charge> charges, ToIntFunction<Charge> slots, AcquireSteps steps, long deadlineNanos) {
        Map<Integer, SlotPart> bySlot = new LinkedHashMap<>();
        for (int i = 0; i < charges.size(); i++) {
            SlotPart part = bySlot.computeIfAbsent(
                    slots.applyAsInt(charges.get(i)), slot -> new SlotPart(new ArrayList<>(), new ArrayList<>()));
            part.charges.add(charges.get(i));
            part.indexes.add(i);
        }
        this.parts = List.copyOf(bySlot.values());
        this.charges = charges.size();
        this.steps = steps;
        this.deadlineNanos = deadlineNanos;
    }

    /** Sends the requests. */
    CrossSlotPeek start() {
        for (SlotPart part : parts) {
            requests.add(steps.create(List.copyOf(part.charges), Operation.PEEK));
        }
        completion = CompletableFuture.allOf(requests.toArray(CompletableFuture<?>[]::new));
        requests.forEach(steps::send);
        return this;
    }

    @Override
    public CompletableFuture<?> completion() {
        return completion;
    }

    @Override
    public List<Quota> result() {
        List<List<Quota>> byCharge = new ArrayList<>(Collections.nCopies(charges, List.of()));
        for (int p = 0; p < parts.size(); p++) {
            AcquireResult result = requests.get(p).join();
            List<Integer> indexes = parts.get(p).indexes;
            for (int i = 0; i < indexes.size(); i++) {
                byCharge.set(
                        indexes.get(i),
                        result.charges().get(i).quotas(false, result.time().micros()));
            }
        }
        return byCharge.stream().flatMap(List::stream).toList();
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    public void cancel(BackendException reason) {
        for (AcquireRequest request : requests) {
            if (request.completeExceptionally(reason)) {
                steps.cancel(request);
            }
        }
    }
}
