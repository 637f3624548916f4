// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.events.GuardedListeners;
import io.weir.ratelimit.core.events.QuotaThresholds;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.request.ReservedCharges;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.SettlesCharges;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The settlements of reserved costs: by receipt, and of all charges of a request under one policy. */
public final class Settlements {
    private final FallbackBackend backend;
    private final GuardedListeners<DecisionListener> listeners;
    private final QuotaThresholds thresholds;

    /** One charge of a request with its actual cost. */
    private record Part(Receipt receipt, Charge charge, long actualCost) {}

    Settlements(FallbackBackend backend, GuardedListeners<DecisionListener> listeners, QuotaThresholds thresholds) {
        this.backend = backend;
        this.listeners = listeners;
        this.thresholds = thresholds;
    }

    /** Settles all charges of a receipt. */
    public void settle(Receipt receipt, long actualCost) {
        settle(receipt, charge -> true, checked(actualCost));
    }

    /** Settles all charges of a receipt without blocking the thread. */
    public CompletionStage<Void> settleAsync(Receipt receipt, long actualCost) {
        return settleAsync(receipt, charge -> true, checked(actualCost));
    }

    /** Settles the charges of a request under a policy. The actual cost is 0 permits or more. */
    public void settle(RequestState request, String policy, long actualCost) {
        long cost = checked(actualCost);
        List<Charge> claim = request.claim(policy);
        if (!claim.isEmpty()) {
            request.claimed(backend.acquire(Binding.NONE, claim));
        }
        for (Part part : parts(request, policy, cost)) {
            if (!settlesUnchanged(part)) {
                settle(part.receipt, part.charge::equals, part.actualCost);
            }
        }
    }

    /** Settles as {@link #settle(RequestState, String, long)}, without blocking the thread. */
    public CompletionStage<Void> settleAsync(RequestState request, String policy, long actualCost) {
        long cost = checked(actualCost);
        List<Charge> claim = request.claim(policy);
        if (claim.isEmpty()) {
            return settleAll(
                    parts(request, policy, cost),
                    part -> settleAsync(part.receipt, part.charge::equals, part.actualCost));
        }
        Supplier<Executor> reports = thresholds.executorOfThisThread();
        return backend.acquireAsync(Binding.NONE, claim).thenCompose(claimed -> {
            request.claimed(claimed);
            return settleAll(
                    parts(request, policy, cost),
                    part -> settleAsync(part.receipt, part.charge::equals, part.actualCost, reports));
        });
    }

    private CompletionStage<Void> settleAll(List<Part> parts, Function<Part, CompletionStage<Void>> settling) {
        CompletableFuture<?>[] all = parts.stream()
                .filter(part -> !settlesUnchanged(part))
                .map(part -> settling.apply(part).toCompletableFuture())
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(all);
    }

    /** Settles the charges of a receipt under a policy without blocking the thread. The actual cost is 0 permits or more. */
    public CompletionStage<Void> settleAsync(Receipt receipt, String policy, long actualCost) {
        return settleAsync(receipt, charge -> charge.policy().policy().equals(policy), checked(actualCost));
    }

    /** Tests whether a request has a charge under a policy, settled or not. */
    public boolean hasPaid(RequestState request, String policy) {
        return request.quotas().reserved().contains(policy);
    }

    private static long checked(long actualCost) {
        if (actualCost < 0) {
            throw new IllegalArgumentException("the actual cost must not be negative");
        }
        return actualCost;
    }

    private void settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        if (!FallbackBackend.hasCharges(receipt)) {
            return;
        }
        notifyListeners(backend.callAndAwait(known -> settling(known, receipt, selection, actualCost)), actualCost);
    }

    private CompletionStage<Void> settleAsync(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return settleAsync(receipt, selection, actualCost, thresholds.executorFor(receipt, selection, actualCost));
    }

    private CompletionStage<Void> settleAsync(
            Receipt receipt, Predicate<Charge> selection, long actualCost, Supplier<Executor> reports) {
        if (!FallbackBackend.hasCharges(receipt)) {
            return CompletableFuture.completedFuture(null);
        }
        return backend.callAsync(known -> settling(known, receipt, selection, actualCost))
                .thenAccept(settled -> {
                    if (!settled.isEmpty()) {
                        onSettle(settled, actualCost);
                        thresholds.settled(settled, actualCost, reports);
                    }
                });
    }

    private static CompletionStage<List<Charge>> settling(
            RateLimitBackend backend, Receipt receipt, Predicate<Charge> selection, long actualCost) {
        return FallbackBackend.require(backend, SettlesCharges.class).settle(receipt, selection, actualCost);
    }

    /** Settles a charge whose actual cost is the reserved one, for which the backend has nothing to do. Returns false if it is another one. */
    private boolean settlesUnchanged(Part part) {
        if (part.actualCost != part.charge.cost() || !(part.receipt instanceof BackendReceipt spent)) {
            return false;
        }
        List<ChargeStates> settled = spent.settle(part.charge::equals, part.actualCost);
        notifyListeners(settled.stream().map(ChargeStates::charge).toList(), part.actualCost);
        return true;
    }

    private void notifyListeners(List<Charge> settled, long actualCost) {
        if (!settled.isEmpty()) {
            onSettle(settled, actualCost);
            thresholds.settled(settled, actualCost);
        }
    }

    private void onSettle(List<Charge> settled, long actualCost) {
        listeners.notifyEach((listener, charges) -> listener.onSettle(charges, actualCost), settled);
    }

    /** Divides the actual cost among the charges of a request: the latest one has more, or the latest ones have less. */
    private static List<Part> parts(RequestState request, String policy, long actualCost) {
        ReservedCharges.OfPolicy all = request.quotas().reserved().take(policy);
        List<Part> parts = new ArrayList<>();
        long sum = all.earlierCost();
        for (ReservedCharges.Reserved each : all.charges()) {
            parts.add(new Part(each.receipt(), each.charge(), each.charge().cost()));
            sum += each.charge().cost();
        }
        long difference = actualCost - sum;
        for (int i = parts.size() - 1; i >= 0 && difference != 0; i--) {
            Part part = parts.get(i);
            long cost = Math.max(0, part.actualCost + difference);
            difference -= cost - part.actualCost;
            parts.set(i, new Part(part.receipt, part.charge, cost));
        }
        return parts;
    }
}
