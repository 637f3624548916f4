// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.redisson.client.RedisFailures;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A decision on a call with shadow charges.
 *
 * <p>The enforced charges are decided on first. If they reject the call, the shadow charges are not evaluated. Once the call is allowed,
 * each shadow charge is spent by a request of its own, since a shadow charge never rejects a call. A shadow charge without a result at the
 * deadline is left out of the decision.
 */
final class ShadowAcquire implements PendingCall<Decision> {
    private static final Decision.Allowed NOTHING_ENFORCED = new Decision.Allowed(List.of(), Receipt.EMPTY);

    private final List<Charge> charges;
    private final List<Charge> enforced = new ArrayList<>();
    private final List<Charge> shadows = new ArrayList<>();
    private final AcquireSteps steps;
    private final long deadlineNanos;
    private final CompletableFuture<Decision> decision = new CompletableFuture<>();

    /** The decision on the enforced charges, once it is started. */
    private volatile @Nullable PendingCall<Decision> enforcedCall;

    /** One request per shadow charge, once the call is allowed. */
    private volatile List<AcquireRequest> shadowRequests = List.of();

    /** Creates a decision about at least one shadow charge that is not started. Shadow charges are awaited until its deadline. */
    ShadowAcquire(List<Charge> charges, AcquireSteps steps, long deadlineNanos) {
        this.charges = charges;
        charges.forEach(charge -> (charge.shadow() ? shadows : enforced).add(charge));
        this.steps = steps;
        this.deadlineNanos = deadlineNanos;
    }

    /** Returns whether a decision on charges is one of this kind. */
    static boolean hasShadow(List<Charge> charges) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).shadow()) {
                return true;
            }
        }
        return false;
    }

    /** Starts the decision. */
    ShadowAcquire start() {
        if (enforced.isEmpty()) {
            spendShadows(NOTHING_ENFORCED);
            return this;
        }
        PendingCall<Decision> call = steps.decide(enforced);
        enforcedCall = call;
        call.completion()
                .thenAccept(done -> {
                    Decision decided = call.result();
                    if (decided instanceof Decision.Allowed allowed) {
                        spendShadows(allowed);
                    } else if (decided instanceof Decision.Rejected rejected) {
                        decision.complete(rejected(charges, rejected));
                    }
                })
                .exceptionally(failure -> {
                    decision.completeExceptionally(RedisFailures.toBackendException(failure));
                    return null;
                });
        return this;
    }

    private void spendShadows(Decision.Allowed allowed) {
        // The call was cancelled while its enforced charges were spent.
        if (decision.isDone()) {
            steps.refund(new BackendReceipt(claim(allowed)));
            return;
        }
        List<AcquireRequest> requests = shadows.stream()
                .map(shadow -> steps.create(List.of(shadow), Operation.SPEND))
                .toList();
        shadowRequests = requests;
        for (AcquireRequest request : requests) {
            send(request);
        }
        CompletionStage<Void> all = CompletableFuture.allOf(requests.toArray(CompletableFuture<?>[]::new));
        all.whenComplete((done, failure) -> finish(allowed, requests, failure));
    }

    /** Sends a request, unless the call is cancelled before. */
    private void send(AcquireRequest request) {
        if (request.isDone()) {
            return;
        }
        try {
            steps.send(request);
        } catch (RuntimeException e) {
            request.completeExceptionally(e);
        }
        // A thread that cancelled the call meanwhile has not found the request in its queue.
        if (request.isCompletedExceptionally()) {
            steps.cancel(request);
        }
    }

    private void finish(Decision.Allowed allowed, List<AcquireRequest> requests, @Nullable Throwable failure) {
        List<ChargeResult> evaluated = new ArrayList<>(shadows.size());
        List<ChargeStates> spent = new ArrayList<>(claim(allowed));
        for (int i = 0; i < requests.size(); i++) {
            AcquireRequest request = requests.get(i);
            if (request.isCompletedExceptionally()) {
                evaluated.add(ChargeStates.unknown(shadows.get(i)));
                continue;
            }
            AcquireResult result = request.join();
            evaluated.addAll(result.results());
            if (result.spent()) {
                steps.cacheSpent(request);
                spent.addAll(result.charges());
            }
        }
        BackendReceipt receipt = new BackendReceipt(spent);
        boolean unknown = evaluated.stream().allMatch(result -> result.quotas().isEmpty());
        List<ChargeResult> results = merged(charges, allowed.results(), evaluated);
        if (failure != null && enforced.isEmpty() && unknown) {
            decision.completeExceptionally(RedisFailures.toBackendException(failure));
        } else if (!decision.complete(new Decision.Allowed(results, receipt, allowed.waitMicros()))) {
            steps.refund(receipt);
        }
    }

    /** Returns a rejection of all charges of a call, given that of its enforced charges. */
    static Decision.Rejected rejected(List<Charge> charges, Decision.Rejected ofEnforced) {
        return new Decision.Rejected(ChargeStates.withoutShadows(charges, ofEnforced.results()));
    }

    /** Returns the results of enforced and of shadow charges in the order of the charges. */
    private static List<ChargeResult> merged(
            List<Charge> charges, List<ChargeResult> ofEnforced, List<ChargeResult> ofShadows) {
        Iterator<ChargeResult> enforced = ofEnforced.iterator();
        Iterator<ChargeResult> shadows = ofShadows.iterator();
        return charges.stream()
                .map(charge -> charge.shadow() ? shadows.next() : enforced.next())
                .toList();
    }

    private static List<ChargeStates> claim(Decision.Allowed allowed) {
        return allowed.receipt() instanceof BackendReceipt receipt ? receipt.claim() : List.of();
    }

    /** Ends the decision on the enforced charges. If the call is allowed already, it completes with the results that are known. */
    @Override
    public void cancel(BackendException reason) {
        PendingCall<Decision> call = enforcedCall;
        if (call != null) {
            call.cancel(reason);
        }
        for (AcquireRequest request : shadowRequests) {
            if (request.completeExceptionally(reason)) {
                steps.cancel(request);
            }
        }
        decision.completeExceptionally(reason);
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
}
