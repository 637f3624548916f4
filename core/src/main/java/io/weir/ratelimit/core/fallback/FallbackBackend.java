// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.fallback;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.TimedDecision;
import io.weir.ratelimit.core.slots.DegradedReceipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RemembersRejections;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A backend that always decides: if the wrapped backend fails, an earlier rejection that still holds applies, otherwise the failure modes
 * of the policies.
 */
public final class FallbackBackend implements HoldsSlots {
    private final RateLimitBackend backend;
    private final FailureModes failureModes;
    private final BackendHealth health;
    private final long deadlineNanos;

    /** The backend, if it is one in this process. */
    private final ChargedResults.@Nullable InProcessBackend inProcess;

    /** Creates a backend with a fallback. The deadline bounds how long a call of a request waits for another one of it. */
    public FallbackBackend(
            RateLimitBackend backend, FailureModes failureModes, BackendHealth health, Duration deadline) {
        this.backend = backend;
        this.inProcess = backend instanceof ChargedResults.InProcessBackend known ? known : null;
        this.failureModes = failureModes;
        this.health = health;
        this.deadlineNanos = deadline.toNanos();
    }

    public long deadlineNanos() {
        return deadlineNanos;
    }

    public TimedDecision acquire(Binding binding, List<Charge> charges) {
        long start = health.nanos();
        Decision decision;
        try {
            decision = tryAcquire(charges);
        } catch (RuntimeException e) {
            return failed(binding, charges, e, start);
        }
        long end = health.nanos();
        return new TimedDecision(charges, decision, end - start, end, null);
    }

    /** Lets the backend decide. If the backend fails, the caller passes the exception to {@link #failed}. */
    public Decision tryAcquire(List<Charge> charges) {
        return tryAcquire(() -> backend.acquire(charges));
    }

    /** Lets the backend decide like {@link #tryAcquire(List)}, by the acquire of charges that many calls repeat. */
    public Decision tryAcquire(Supplier<Decision> acquire) {
        Decision decision = acquire.get();
        health.answered();
        return decision;
    }

    /** Decides after the backend has failed. The start of the call is by the clock of the health, 0 if the duration is not needed. */
    public TimedDecision failed(Binding binding, List<Charge> charges, RuntimeException failure, long start) {
        long end = health.nanos();
        return failed(binding, charges, asBackendException(failure), start == 0 ? end : start, end);
    }

    /** Returns the acquire of charges for calls that repeat it. */
    public Supplier<Decision> acquireOf(List<Charge> charges) {
        return inProcess == null ? () -> backend.acquire(charges) : inProcess.acquireOf(charges);
    }

    /** Returns the instant of a decision of the backend, by the clock of the health, which is read unless the backend knows it. */
    public long atNanos(Decision decision) {
        return inProcess != null && decision.results() instanceof ChargedResults results
                ? inProcess.atNanos(results)
                : health.nanos();
    }

    public CompletionStage<TimedDecision> acquireAsync(Binding binding, List<Charge> charges) {
        long start = health.nanos();
        return started(() -> backend.acquireAsync(charges)).handle((decision, failure) -> {
            long end = health.nanos();
            if (decision == null) {
                return failed(binding, charges, asBackendException(failure), start, end);
            }
            health.answered();
            return new TimedDecision(charges, decision, end - start, end, null);
        });
    }

    /** Starts a call. A backend can throw an exception, or return null, instead of completing its stage. */
    private static <T> CompletionStage<T> started(Supplier<CompletionStage<T>> call) {
        try {
            return Objects.requireNonNull(call.get(), "the backend returned null");
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /** Starts a call for anything but a decision, and records its failure. */
    private <T> CompletionStage<T> recorded(Supplier<CompletionStage<T>> call) {
        return started(call).whenComplete((result, failure) -> {
            if (failure != null) {
                health.operationFailed(asBackendException(failure));
            }
        });
    }

    private TimedDecision failed(
            Binding binding, List<Charge> charges, BackendException failure, long start, long end) {
        health.decisionFailed(failure);
        return new TimedDecision(charges, withoutBackend(binding, charges, failure), end - start, end, failure);
    }

    /**
     * Decides by a rejection that still holds, otherwise by the failure modes. Foreign state is an answer that replaces the rejection. If
     * the backend is full, it decides approximately what would otherwise be allowed without a limit.
     */
    private Decision withoutBackend(Binding binding, List<Charge> charges, BackendException failure) {
        if (failure.reason() != BackendException.Reason.FOREIGN_STATE) {
            Optional<Decision.Rejected> known =
                    backend.capability(RemembersRejections.class).flatMap(memory -> memory.knownRejection(charges));
            if (known.isPresent()) {
                return known.get();
            }
        }
        if (failure.reason() == BackendException.Reason.FULL && FailureModes.isOpen(binding, charges)) {
            Optional<Decision> approximate = backend.capability(RemembersRejections.class)
                    .flatMap(memory -> memory.acquireApproximately(charges));
            if (approximate.isPresent()) {
                return approximate.get();
            }
        }
        return failureModes.decide(binding, charges, failure);
    }

    /** Decides because of an earlier failure. The backend is not called. */
    public TimedDecision decideWithoutBackend(Binding binding, List<Charge> charges, BackendException failure) {
        health.decidedWithoutBackend(failure);
        return new TimedDecision(charges, withoutBackend(binding, charges, failure), 0, health.nanos(), failure);
    }

    /**
     * Returns a capability of a backend that an operation of the application needs.
     *
     * @throws UnsupportedOperationException if the backend does not have it
     */
    public static <C> C require(RateLimitBackend backend, Class<C> type) {
        return backend.capability(type)
                .orElseThrow(() -> new UnsupportedOperationException(
                        "the backend " + backend.name() + " does not implement " + type.getSimpleName()));
    }

    /** Converts an exception. The message of an unknown exception is omitted, because it can contain a key. */
    public static BackendException asBackendException(Throwable failure) {
        boolean wrapped = failure instanceof CompletionException || failure instanceof ExecutionException;
        Throwable cause = wrapped && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof BackendException known
                ? known
                : new BackendException(
                        BackendException.Reason.BACKEND_ERROR,
                        "the backend failed with " + cause.getClass().getName(),
                        cause);
    }

    /**
     * Refunds the charges of a call that does not proceed. If the backend fails, the charges stay until their window has passed. Returns
     * the failure, null if the charges are refunded.
     */
    @Nullable
    public BackendException refund(Receipt receipt) {
        try {
            await(backend.refund(receipt));
            return null;
        } catch (RuntimeException e) {
            BackendException failure = asBackendException(e);
            health.operationFailed(failure);
            return failure;
        }
    }

    /** Refunds the charges of a call without waiting. */
    public void refundAsync(Receipt receipt) {
        CompletionStage<Void> unused = recorded(() -> backend.refund(receipt));
    }

    /** Tests whether the backend can have charges of a receipt. The receipts of an outage have none, and need no backend. */
    public static boolean hasCharges(Receipt receipt) {
        return !receipt.equals(Receipt.EMPTY) && !(receipt instanceof DegradedReceipt);
    }

    @Override
    public CompletionStage<Boolean> release(Receipt receipt) {
        return recorded(() -> receipt instanceof DegradedReceipt degraded
                ? failureModes.release(degraded)
                : require(backend, HoldsSlots.class).release(receipt));
    }

    @Override
    public CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
        List<Receipt> shared = new ArrayList<>(receipts.size());
        List<DegradedReceipt> inProcess = new ArrayList<>();
        for (Receipt receipt : receipts) {
            if (receipt instanceof DegradedReceipt degraded) {
                inProcess.add(degraded);
            } else {
                shared.add(receipt);
            }
        }
        failureModes.renew(inProcess);
        return shared.isEmpty()
                ? CompletableFuture.completedStage(List.of())
                : recorded(() -> require(backend, HoldsSlots.class).renew(shared));
    }

    /** Refunds the charges whose policies do not count the outcome of the call, without waiting. Returns these charges. */
    public List<Charge> settle(Binding binding, Decision decision, boolean succeeded) {
        if (decision instanceof Decision.Allowed allowed && allowed.receipt() instanceof ChargeReceipt receipt) {
            ChargeReceipt uncounted =
                    receipt.split(charge -> !binding.counts(charge.policy().policy(), succeeded));
            if (!uncounted.charges().isEmpty()) {
                refundAsync(uncounted);
            }
            return uncounted.charges();
        }
        return failureModes.settle(binding, decision, succeeded);
    }

    /** Calls the backend for anything but a decision. */
    public <T> T call(Function<RateLimitBackend, T> operation) {
        try {
            return operation.apply(backend);
        } catch (UnsupportedOperationException e) { // the backend works, but not this operation
            throw e;
        } catch (RuntimeException e) {
            BackendException failure = asBackendException(e);
            health.operationFailed(failure);
            throw new RateLimitUnavailableException(failure.reason().tag(), failureModes.retryAfter(failure));
        }
    }

    /** Calls the backend like {@link #call}, and waits for the stage until the deadline at most. */
    public <T> T callAndAwait(Function<RateLimitBackend, CompletionStage<T>> operation) {
        return call(known -> await(operation.apply(known)));
    }

    /** Waits for a stage of the backend, also if it breaks its contract and never completes the stage. */
    private <T> T await(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(deadlineNanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw asBackendException(e);
        } catch (TimeoutException e) {
            throw timeout("The backend did not reply within the deadline.", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw timeout("The thread was interrupted while it waited for the backend.", e);
        }
    }

    private static BackendException timeout(String message, Exception cause) {
        return new BackendException(BackendException.Reason.TIMEOUT, message, cause);
    }

    /** Calls the backend for anything but a decision, without blocking the thread. */
    public <T> CompletionStage<T> callAsync(Function<RateLimitBackend, CompletionStage<T>> operation) {
        return started(() -> operation.apply(backend)).exceptionallyCompose(failure -> {
            if (failure instanceof UnsupportedOperationException) {
                return CompletableFuture.failedStage(failure);
            }
            BackendException known = asBackendException(failure);
            health.operationFailed(known);
            return CompletableFuture.failedStage(
                    new RateLimitUnavailableException(known.reason().tag(), failureModes.retryAfter(known)));
        });
    }

    /** Notifies listeners of changes of the backend's state. */
    public void notifyChanges() {
        health.notifyChanges();
    }
}
