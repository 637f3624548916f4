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
import io.weir.ratelimit.core.slots.HeldSlots;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.slots.SlotQueues;
import io.weir.ratelimit.core.slots.WaitBulkhead;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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
 * <tr><td>SLEEP, interrupted</td><td>permits were reserved; the call was rejected</td><td>REFUND; END</td></tr>
 * <tr><td>REFUND</td><td>refunded; failed</td><td>ACQUIRE without a wait; END by the failure modes</td></tr>
 * </table>
 *
 * <p>{@link #await} runs the steps on the calling thread; {@link AsyncAcquisition} runs them without occupying a thread. One
 * thread at a time uses an acquisition.
 */
final class Acquisition {
    /** The next operation. */
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
    private final WaitBulkhead bulkhead;
    private final HeldSlots slots;
    private final @Nullable RequestState request;
    private final Function<Acquisition, List<Charge>> resolver;
    private final long startNanos;
    private long waitedMicros;
    private long waitMicros;
    private List<Policy> entered = List.of();

    /** The charges of the call, paid or not. */
    private List<Charge> all = List.of();

    /** The charges that claim the receipt of the edge. */
    private List<Charge> claim = List.of();

    /** The charges that the request has not paid. */
    private List<Charge> charges = List.of();

    private boolean reserved;
    private boolean paid;
    private boolean interrupted;
    private boolean slept;

    /** The place of this call among those that wait for a slot, null if it does not. */
    private SlotQueues.@Nullable Place place;

    private @Nullable TimedDecision result;

    /**
     * Creates an acquisition that has not begun.
     *
     * @param request the request that the call is part of, null if there is none
     * @param resolver resolves the charges of the call, with the {@linkplain #maxWaitMicros rest} of its max-wait
     */
    Acquisition(
            Binding binding,
            FallbackBackend backend,
            Sleeper sleeper,
            WaitBulkhead bulkhead,
            HeldSlots slots,
            @Nullable RequestState request,
            Function<Acquisition, List<Charge>> resolver) {
        this.binding = binding;
        this.backend = backend;
        this.sleeper = sleeper;
        this.bulkhead = bulkhead;
        this.slots = slots;
        this.request = request;
        this.resolver = resolver;
        this.startNanos = binding.canWait() ? sleeper.nanos() : 0;
    }

    /** Returns how long the call can still wait under a policy, 0 if too many calls wait already. */
    long maxWaitMicros(Policy policy) {
        long left = policy.maxWaitMicros() - waitedMicros;
        return left > 0 && (entered.contains(policy) || bulkhead.hasRoom(policy)) ? left : 0;
    }

    /** Runs all steps on the calling thread. An interrupt ends a wait. Returns null if nothing was due. */
    @Nullable
    TimedDecision await() {
        try {
            Step step = begin();
            while (step != Step.END) {
                step = step == Step.SLEEP ? sleep() : next(step);
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
            case UNDECIDED -> awaitOtherCall();
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
        BackendException recent = request == null ? null : request.recentFailure(sleeper);
        return recent == null ? null : backend.decideWithoutBackend(binding, charges, recent);
    }

    void recordFailure(@Nullable BackendException failure) {
        if (request != null && failure != null && !BackendHealth.concernsSomeKeys(failure)) {
            request.failed(failure, sleeper.nanos());
        }
    }

    private Step sleep() {
        slept = true;
        try {
            SlotQueues.Place waiting = place;
            if (waiting == null) {
                sleeper.sleep(waitMicros);
            } else {
                sleeper.sleep(slots.queues().signal(waiting), waitMicros);
            }
        } catch (InterruptedException e) {
            interrupted = true;
            return interrupted();
        }
        return woken();
    }

    /** Resolves the charges and reserves them in the ledger of the request. */
    Step begin() {
        result = null;
        charges = resolver.apply(this);
        if (waitsForTurn()) {
            return Step.SLEEP;
        }
        if (request != null && request.recentFailure(sleeper) == null) {
            claim = request.claim(charges);
            if (!claim.isEmpty()) {
                return Step.CLAIM;
            }
        }
        return reserve();
    }

    /** Returns the charges that claim the receipt of the edge. */
    List<Charge> claim() {
        return claim;
    }

    Step claimed(TimedDecision claimed) {
        recordFailure(claimed.failure());
        if (request != null) {
            request.claimed(claimed);
        }
        return reserve();
    }

    /** Reserves the resolved charges, unless another call of the request still decides about them. */
    Step reserve() {
        if (request == null) {
            return due();
        }
        all = charges;
        List<Charge> due = request.ledger().reserve(binding.endpoint(), all);
        return due == null ? Step.UNDECIDED : reserved(request, due);
    }

    private Step due() {
        return charges.isEmpty() ? Step.END : Step.ACQUIRE;
    }

    private Step reserved(RequestState paying, List<Charge> due) {
        charges = due;
        reserved = true;
        if (due.isEmpty()) {
            pay(paying);
            paying.decided(binding);
        }
        return due();
    }

    /** Waits on the calling thread for the other call of the request. */
    private Step awaitOtherCall() {
        RequestState paying = Objects.requireNonNull(request, "only calls of a request wait for each other");
        List<Charge> due = paying.ledger().reserve(binding.endpoint(), all, backend.deadlineNanos());
        return due == null ? withoutOtherCall() : reserved(paying, due);
    }

    /** Returns a future that completes when to {@link #reserve} again, null if at once. */
    @Nullable
    CompletableFuture<Void> otherCall() {
        return request == null ? null : request.ledger().change(binding.endpoint(), all);
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

    /** Returns whether other calls wait for the same slot already, so that this one waits behind them until its max-wait ends. */
    private boolean waitsForTurn() {
        SlotQueues.Place waiting = place;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            if (charge.maxWaitMicros() > 0 && needsSlot(charge)) {
                SlotQueues.Key key = SlotQueues.Key.of(charge);
                if (waiting == null && slots.queues().isWaitedFor(key) && enterBulkhead(charges)) {
                    waiting = slots.queues().enter(key);
                    place = waiting;
                }
                if (waiting != null && !slots.queues().isFirst(waiting)) {
                    waitMicros = charge.maxWaitMicros();
                    return true;
                }
            }
        }
        return false;
    }

    private boolean needsSlot(Charge charge) {
        return request == null
                ? charge.policy().hasConcurrency()
                : request.ledger().needsSlot(charge);
    }

    /** Returns a future that completes when a call that waits for a slot should go on before its time, null if it waits for none. */
    @Nullable
    CompletableFuture<Void> signal() {
        return place == null ? null : slots.queues().signal(place);
    }

    Step decided(TimedDecision timed) {
        result = timed;
        slots.took(timed.decision());
        waitMicros = WaitTimes.micros(timed);
        if (waitMicros == 0) {
            return end(timed, timed.decision().allowed());
        }
        if (!enterBulkhead(timed.charges())) {
            return timed.decision().allowed() ? Step.REFUND : end(timed, false);
        }
        if (timed.decision().allowed()) {
            leaveQueue();
            end(timed, true);
        } else {
            release();
            enterQueue(timed);
        }
        return Step.SLEEP;
    }

    long waitMicros() {
        return waitMicros;
    }

    /** Enters the queue of a slot that the call lacks. */
    private void enterQueue(TimedDecision timed) {
        if (place == null) {
            Charge lacking = WaitTimes.lackingSlot(timed);
            place = lacking == null ? null : slots.queues().enter(SlotQueues.Key.of(lacking));
        }
    }

    private void leaveQueue() {
        if (place != null) {
            slots.queues().leave(place);
            place = null;
        }
    }

    Step woken() {
        if (result != null && result.decision().allowed()) {
            return Step.END;
        }
        waitedMicros = (sleeper.nanos() - startNanos + 999) / 1_000;
        return begin();
    }

    private Step interrupted() {
        TimedDecision last = result;
        if (last == null) {
            // The call waited for its turn and was not decided. It is decided without a wait.
            waitedMicros = Long.MAX_VALUE;
            leaveQueue();
            return begin();
        }
        if (!last.decision().allowed()) {
            return end(last, false);
        }
        if (request != null) {
            request.ledger().reopen(binding.endpoint(), all, charges);
            reserved = true;
            paid = false;
        }
        return Step.REFUND;
    }

    /** Returns the receipt of the permits that the call has reserved at the backend. */
    Receipt receipt() {
        return result != null && result.decision() instanceof Decision.Allowed allowed
                ? allowed.receipt()
                : Receipt.EMPTY;
    }

    /** Returns the receipt to refund, whose slots are no longer renewed. */
    Receipt refundedReceipt() {
        Receipt receipt = receipt();
        slots.refunded(receipt);
        return receipt;
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
        if (request != null) {
            if (pays) {
                pay(request);
            }
            release();
            request.decided(binding, timed);
        }
        return Step.END;
    }

    private void pay(RequestState paying) {
        paying.ledger().pay(binding.endpoint(), all, charges);
        reserved = false;
        paid = true;
    }

    private void release() {
        if (request != null && reserved) {
            request.ledger().release(binding.endpoint(), all);
            reserved = false;
        }
    }

    /**
     * Ends a call that does not proceed although its charges may be paid: a later call of the request pays them again.
     *
     * @return the receipt of the permits to refund
     */
    Receipt abandon() {
        close();
        Receipt receipt = refundedReceipt();
        if (request != null && paid) {
            request.ledger().refund(binding.endpoint(), all, charges);
            paid = false;
        }
        return receipt;
    }

    /** Leaves the bulkhead and releases the charges that are still reserved after an error. */
    void close() {
        release();
        leaveQueue();
        if (!entered.isEmpty()) {
            bulkhead.leave(entered);
            entered = List.of();
        }
    }

    private boolean enterBulkhead(List<Charge> waiting) {
        List<Policy> needed = new ArrayList<>();
        for (Binding.PolicyCost policyCost : binding.policies()) {
            if (waits(policyCost.policy(), waiting) && !entered.contains(policyCost.policy())) {
                needed.add(policyCost.policy());
            }
        }
        if (!bulkhead.tryEnter(needed)) {
            return false;
        }
        needed.addAll(entered);
        entered = needed;
        return true;
    }

    private static boolean waits(Policy policy, List<Charge> charges) {
        for (Charge charge : charges) {
            if (charge.maxWaitMicros() > 0 && charge.policy().policy().equals(policy.name())) {
                return true;
            }
        }
        return false;
    }

    static List<Charge> withoutMaxWait(List<Charge> charges) {
        return charges.stream().map(Charge::withoutMaxWait).toList();
    }
}
