// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.redisson.AcquireRequest.Operation;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A decision on a call with shadow charges.
 *
 * <p>If all keys are in one slot, the shadow charges are requests of their own behind the request of the enforced charges, in the same
 * batch. The script spends them if the call is allowed. In several slots the enforced charges are decided on first. Once the call is
 * allowed, each shadow charge is spent by itself, since a shadow charge never rejects a call. A shadow charge without a result at the
 * deadline is left out of the decision.
 */
final class ShadowAcquire implements PendingCall<Decision> {
    private static final Decision.Allowed NOTHING_ENFORCED = new Decision.Allowed(List.of(), Receipt.EMPTY);

    private final List<Charge> enforced = new ArrayList<>();
    private final List<Charge> shadows = new ArrayList<>();
    private final AcquireSteps steps;
    private final long deadlineNanos;
    private final CompletableFuture<Decision> decision = new CompletableFuture<>();

    /** The request that carries the others if all are in one slot. */
    private volatile @Nullable AcquireRequest first;

    /** One request per shadow charge, once they are created. */
    private volatile List<AcquireRequest> shadowRequests = List.of();

    /** The decision on the enforced charges, while only shadow charges are awaited. Guarded by this. */
    private Decision.@Nullable Allowed allowed;

    /** Why the call is not awaited any longer. Guarded by this. */
    private @Nullable BackendException cancelled;

    /** What the call completes with, once that is known. Guarded by this. */
    private @Nullable CompletionStage<Decision> outcome;

    /**
     * Creates a decision that is not started.
     *
     * @param charges at least one shadow charge, and any enforced charges
     * @param steps the steps
     * @param deadlineNanos until when shadow charges are awaited, as {@link System#nanoTime}
     */
    ShadowAcquire(List<Charge> charges, AcquireSteps steps, long deadlineNanos) {
        charges.forEach(charge -> (charge.shadow() ? shadows : enforced).add(charge));
        this.steps = steps;
        this.deadlineNanos = deadlineNanos;
    }

    /**
     * Starts the decision.
     *
     * @param inOneSlot whether the keys of all charges are in one slot
     */
    ShadowAcquire start(boolean inOneSlot) {
        if (inOneSlot) {
            sendTogether();
        } else if (enforced.isEmpty()) {
            spendShadows(NOTHING_ENFORCED);
        } else {
            CompletionStage<Decision> enforcedDecision = steps.decide(enforced);
            enforcedDecision.whenComplete((decided, failure) -> {
                if (failure != null) {
                    decision.completeExceptionally(RedisFailures.toBackendException(failure));
                } else if (decided instanceof Decision.Allowed allowedCall) {
                    spendShadows(allowedCall);
                } else {
                    decision.complete(decided);
                }
            });
        }
        return this;
    }

    private void sendTogether() {
        AcquireRequest request = steps.createWithShadows(enforced, shadows);
        List<AcquireRequest> all = new ArrayList<>(request.shadows);
        all.add(0, request);
        first = request;
        shadowRequests = enforced.isEmpty() ? List.copyOf(all) : request.shadows;
        steps.send(request);
        allCompleted(all)
                .thenRun(() -> {
                    if (enforced.isEmpty()) {
                        finish(NOTHING_ENFORCED);
                    } else if (request.isCompletedExceptionally()) {
                        decision.completeExceptionally(failure(request));
                    } else {
                        finish(steps.decision(request));
                    }
                })
                .exceptionally(failure -> {
                    decision.completeExceptionally(RedisFailures.toBackendException(failure));
                    return null;
                });
    }

    /** Returns a stage that completes when all requests have, normally or not. */
    private static CompletionStage<Void> allCompleted(List<AcquireRequest> requests) {
        return CompletableFuture.allOf(requests.toArray(CompletableFuture<?>[]::new))
                .exceptionally(failure -> null);
    }

    private void spendShadows(Decision.Allowed allowedCall) {
        List<AcquireRequest> requests = shadows.stream()
                .map(shadow -> steps.create(List.of(shadow), Operation.SPEND))
                .toList();
        shadowRequests = requests;
        if (!awaitShadows(allowedCall)) {
            steps.refund(new BackendReceipt(claim(allowedCall)));
            return;
        }
        for (AcquireRequest request : requests) {
            try {
                steps.send(request);
            } catch (RuntimeException e) {
                request.completeExceptionally(e);
            }
        }
        allCompleted(requests).thenRun(() -> finish(allowedCall));
    }

    /** Returns false if the call is cancelled. */
    private synchronized boolean awaitShadows(Decision.Allowed allowedCall) {
        allowed = cancelled == null ? allowedCall : null;
        return cancelled == null;
    }

    private synchronized Decision.@Nullable Allowed markCancelled(BackendException reason) {
        cancelled = reason;
        return allowed;
    }

    /** Completes the call with the shadow charges whose results are known if it is allowed; else it fails. */
    @Override
    public void cancel(BackendException reason) {
        Decision.Allowed allowedCall = markCancelled(reason);
        if (allowedCall != null) {
            finish(allowedCall);
            shadowRequests.stream().filter(request -> !request.isDone()).forEach(steps::cancel);
            return;
        }
        decision.completeExceptionally(reason);
        AcquireRequest sent = first;
        if (sent != null) {
            steps.cancel(sent);
        }
    }

    private void finish(Decision decided) {
        outcome(decided).whenComplete((withShadows, failure) -> {
            if (failure == null) {
                decision.complete(withShadows);
            } else {
                decision.completeExceptionally(failure);
            }
        });
    }

    /** Returns the same outcome to all threads that finish the call, since the charges of a receipt can be claimed once. */
    private synchronized CompletionStage<Decision> outcome(Decision decided) {
        if (outcome == null) {
            outcome = withShadows(decided);
        }
        return outcome;
    }

    private CompletionStage<Decision> withShadows(Decision decided) {
        List<Quota> quotas = new ArrayList<>();
        List<ChargeStates> spent = new ArrayList<>();
        for (AcquireRequest request : shadowRequests) {
            if (request.isDone() && !request.isCompletedExceptionally()) {
                AcquireResult result = request.join();
                quotas.addAll(result.quotas());
                if (result.spent()) {
                    steps.cacheSpent(request);
                    spent.addAll(result.charges());
                }
            }
        }
        if (enforced.isEmpty() && quotas.isEmpty()) {
            return CompletableFuture.failedStage(failure(shadowRequests.get(0)));
        }
        if (decided instanceof Decision.Allowed allowedCall) {
            spent.addAll(0, claim(allowedCall));
            return CompletableFuture.completedStage(new Decision.Allowed(
                    allowedCall.quotas(), new BackendReceipt(spent), allowedCall.waitMicros(), quotas));
        }
        return CompletableFuture.completedStage(new Decision.Rejected(decided.quotas(), quotas));
    }

    private static List<ChargeStates> claim(Decision.Allowed allowedCall) {
        return allowedCall.receipt() instanceof BackendReceipt receipt ? receipt.claim() : List.of();
    }

    /** Returns why a request has no result: its failure, or that the call is cancelled. */
    private BackendException failure(AcquireRequest request) {
        Throwable failure = request.isDone()
                ? request.<Throwable>handle((result, thrown) -> thrown).join()
                : cancelled;
        return RedisFailures.toBackendException(Objects.requireNonNull(failure));
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
