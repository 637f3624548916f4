// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.request.TimedDecision;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The acquisition of permits by one call: it calls the backend, waits if the policies allow a wait, and calls the backend again.
 *
 * <p>A bucket reserves permits for a call that waits, so the call waits once. A window reserves none: a rejected call calls the
 * backend again when the window has room, at most for the max-wait of its policy. A call that waits for a slot enters the queue of its key,
 * and calls the backend again when it is the first one. If too many calls wait already, the call refunds its reserved permits and requests
 * a decision without a wait.
 *
 * <table>
 * <caption>Transitions</caption>
 * <tr><th>step</th><th>result</th><th>next step</th></tr>
 * <tr><td>{@link #begin}</td><td>the edge has charged some; charges are due; all are paid; another call of the request
 * decides</td><td>CLAIM; ACQUIRE; END; UNDECIDED</td></tr>
 * <tr><td>CLAIM</td><td>charges are due; all are paid; another call of the request decides</td><td>ACQUIRE; END; UNDECIDED</td></tr>
 * <tr><td>UNDECIDED</td><td>as of {@code begin}; the other call is late</td><td>as of {@code begin}; END</td></tr>
 * <tr><td>ACQUIRE</td><td>no wait; a wait; a wait without room in the bulkhead</td><td>END; SLEEP; REFUND if allowed, else
 * END</td></tr>
 * <tr><td>SLEEP</td><td>permits were reserved; the window has room</td><td>END; ACQUIRE</td></tr>
 * <tr><td>SLEEP, the application ends</td><td>{@link #abandon}</td><td>{@link CancellationException}</td></tr>
 * <tr><td>SLEEP, interrupted</td><td>permits were reserved; the call was rejected</td><td>REFUND; END</td></tr>
 * <tr><td>REFUND</td><td>refunded; failed</td><td>ACQUIRE without a wait; END by the failure modes</td></tr>
 * </table>
 *
 * <p>{@link #await} runs the steps on the calling thread; {@link AsyncAcquisition} runs them without occupying a thread. One
 * thread at a time uses an acquisition.
 */
final class Acquisition {
    enum Step {
        ACQUIRE,
        UNDECIDED,
        SLEEP,
        REFUND,
        CLAIM,
        END
    }

    private final Binding binding;
    private final FallbackBackend backend;
    private final Sleeper sleeper;
    private final CallEnds ends;
    private final Function<Acquisition, List<Charge>> resolver;

    /** What the call pays for its request, null if it is part of none. */
    private final @Nullable RequestPayment payment;

    /** The waits of the call, null if no policy lets it wait. */
    private final @Nullable CallWait wait;

    /** The charges that claim the receipt of the edge. */
    private List<Charge> claim = List.of();

    /** The charges that the request has not paid. */
    private List<Charge> charges = List.of();

    private boolean interrupted;
    private boolean slept;
    private @Nullable TimedDecision result;

    /** Creates an acquisition that has not begun; its resolver gets the {@linkplain #maxWaitMicros rest} of the max-wait. */
    Acquisition(
            Binding binding,
            FallbackBackend backend,
            Sleeper sleeper,
            CallEnds ends,
            @Nullable RequestState request,
            @Nullable CallWait wait,
            Function<Acquisition, List<Charge>> resolver) {
        this.binding = binding;
        this.backend = backend;
        this.sleeper = sleeper;
        this.ends = ends;
        this.resolver = resolver;
        this.payment = request == null ? null : new RequestPayment(request, binding);
        this.wait = wait;
    }

    /** Returns how long the call can still wait under a policy, 0 if too many calls wait already. */
    long maxWaitMicros(Policy policy) {
        return wait == null ? 0 : wait.maxMicros(policy);
    }

    /** Runs all steps on the calling thread. An interrupt ends a wait. Returns null if nothing was due. */
    @Nullable
    TimedDecision await() {
        try {
            Step step = begin();
            while (step != Step.END) {
                step = next(step);
            }
            return result;
        } finally {
            close();
            if (slept) {
                sleeper.ended();
            }
            if (interrupted) {
                // The flag is set last, because the backend fails on an interrupted thread.
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Runs all steps before the first wait on the calling thread. Returns whether the call then has to wait. */
    boolean runUntilWait() {
        boolean waits = false;
        try {
            Step step = begin();
            while (step != Step.END && step != Step.SLEEP) {
                step = next(step);
            }
            waits = step == Step.SLEEP;
            return waits;
        } finally {
            if (!waits) {
                close();
            }
        }
    }

    private Step next(Step step) {
        return switch (step) {
            case ACQUIRE -> decided(acquire());
            case CLAIM -> claimed(backend.acquire(Binding.NONE, claim));
            case UNDECIDED ->
                awaitOtherCall(Objects.requireNonNull(payment, "only calls of a request wait for each other"));
            case SLEEP -> sleep(Objects.requireNonNull(wait, "no other call sleeps"));
            default -> refunded(backend.refund(refundedReceipt()));
        };
    }

    private TimedDecision acquire() {
        TimedDecision known = decideByRecentFailure();
        if (known != null) {
            return known;
        }
        TimedDecision timed = backend.acquire(binding, charges);
        recordFailure(timed.failure());
        return timed;
    }

    /** Decides without the backend if it has just failed, because a request waits only once for it. Returns null otherwise. */
    @Nullable
    TimedDecision decideByRecentFailure() {
        BackendException recent = payment == null ? null : payment.recentFailure(sleeper);
        return recent == null ? null : backend.decideWithoutBackend(binding, charges, recent);
    }

    void recordFailure(@Nullable BackendException failure) {
        if (payment != null && failure != null && !BackendHealth.concernsSomeKeys(failure)) {
            payment.failed(failure, sleeper.nanos());
        }
    }

    private Step sleep(CallWait waiting) {
        slept = true;
        try {
            waiting.sleep();
        } catch (InterruptedException e) {
            interrupted = true;
            return interrupted(waiting);
        } catch (CancellationException e) {
            backend.refund(abandon());
            throw e;
        }
        return woken();
    }

    /** Resolves the charges and reserves them in the ledger of the request. */
    Step begin() {
        result = null;
        charges = resolver.apply(this);
        if (wait != null && wait.isForTurn(charges, this::needsSlot)) {
            return Step.SLEEP;
        }
        if (payment != null) {
            claim = payment.claim(charges, sleeper);
            if (!claim.isEmpty()) {
                return Step.CLAIM;
            }
        }
        return reserve();
    }

    private boolean needsSlot(Charge charge) {
        return payment == null ? charge.policy().hasConcurrency() : payment.needsSlot(charge);
    }

    /** Returns the charges that claim the receipt of the edge. */
    List<Charge> claim() {
        return claim;
    }

    Step claimed(TimedDecision claimed) {
        recordFailure(claimed.failure());
        if (payment != null) {
            payment.claimed(claimed);
        }
        return reserve();
    }

    /** Reserves the resolved charges, unless another call of the request still decides about them. */
    Step reserve() {
        List<Charge> due = payment == null ? charges : payment.reserve(charges);
        return due == null ? Step.UNDECIDED : due(due);
    }

    private Step due(List<Charge> unpaid) {
        charges = unpaid;
        return charges.isEmpty() ? Step.END : Step.ACQUIRE;
    }

    /** Waits on the calling thread for the other call of the request. */
    private Step awaitOtherCall(RequestPayment paying) {
        List<Charge> due = paying.reserveWithin(backend.deadlineNanos());
        return due == null ? withoutOtherCall() : due(due);
    }

    /** Returns a future that completes when to {@link #reserve} again, null if at once. */
    @Nullable
    CompletableFuture<Void> otherCall() {
        return payment == null ? null : payment.otherCall();
    }

    /** Decides by the failure modes, because another call of the request has not ended by the deadline. */
    Step withoutOtherCall() {
        BackendException failure =
                new BackendException(Reason.TIMEOUT, "another call of the request is still being decided", null);
        return end(backend.decideWithoutBackend(binding, charges, failure), false);
    }

    List<Charge> charges() {
        return charges;
    }

    @Nullable
    TimedDecision result() {
        return result;
    }

    /** Returns a future that completes when a call that waits for a slot should go on before its time, null if it waits for none. */
    @Nullable
    CompletableFuture<Void> signal() {
        return wait == null ? null : wait.signal();
    }

    Step decided(TimedDecision timed) {
        result = timed;
        ends.decided(timed.decision());
        boolean allowed = timed.decision().allowed();
        long asked = wait == null ? 0 : CallWait.askedBy(timed);
        if (asked == 0 || wait == null) {
            return end(timed, allowed);
        }
        if (!wait.enter(timed, asked)) {
            return allowed ? Step.REFUND : end(timed, false);
        }
        if (allowed) {
            wait.leaveQueue();
            end(timed, true);
        } else {
            if (payment != null) {
                payment.release();
            }
            wait.enterQueue(timed);
        }
        return Step.SLEEP;
    }

    long waitMicros() {
        return wait == null ? 0 : wait.micros();
    }

    Step woken() {
        if (result != null && result.decision().allowed()) {
            return Step.END;
        }
        if (wait != null) {
            wait.woken();
        }
        return begin();
    }

    private Step interrupted(CallWait waiting) {
        TimedDecision last = result;
        if (last == null) {
            // The call waited for its turn and was not decided. It is decided without a wait.
            waiting.end();
            return begin();
        }
        if (!last.decision().allowed()) {
            return end(last, false);
        }
        if (payment != null) {
            payment.reopen(charges);
        }
        return Step.REFUND;
    }

    /** Returns the receipt of the permits that the call has reserved at the backend. */
    Receipt receipt() {
        return result != null && result.decision() instanceof Decision.Allowed allowed
                ? allowed.receipt()
                : Receipt.EMPTY;
    }

    /** Returns the receipt to refund, and releases the slots of the call, also those in process. */
    Receipt refundedReceipt() {
        if (result != null) {
            ends.refunded(result.decision().receipt());
        }
        return receipt();
    }

    Step refunded(@Nullable BackendException failure) {
        charges = withoutMaxWait(charges);
        if (failure == null) {
            return Step.ACQUIRE;
        }
        recordFailure(failure);
        TimedDecision degraded = backend.decideWithoutBackend(binding, charges, failure);
        return end(degraded, degraded.decision().allowed());
    }

    private Step end(TimedDecision timed, boolean pays) {
        result = timed;
        if (payment != null) {
            if (pays) {
                payment.pay(charges);
            }
            payment.decided(timed);
        }
        return Step.END;
    }

    /**
     * Ends a call that does not proceed although its charges may be paid: a later call of the request pays them again. Returns the receipt
     * of the permits to refund.
     */
    Receipt abandon() {
        close();
        Receipt receipt = refundedReceipt();
        if (payment != null) {
            payment.refund(charges);
        }
        return receipt;
    }

    /** Ends the waits and releases the charges that are still reserved after an error. */
    void close() {
        if (payment != null) {
            payment.release();
        }
        if (wait != null) {
            wait.leave();
        }
    }

    static List<Charge> withoutMaxWait(List<Charge> charges) {
        return charges.stream().map(Charge::withoutMaxWait).toList();
    }
}
