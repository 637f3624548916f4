// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.core.policy.Overrides.Subject;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.TimedDecision;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.slots.SlotQueues;
import io.weir.ratelimit.core.slots.WaitBulkhead;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The waits of one call under its max-wait: its room in the bulkhead of waiting calls, and its place in the queue of a slot. */
final class CallWait {
    private final Binding binding;
    private final WaitBulkhead bulkhead;
    private final SlotQueues queues;
    private final Sleeper sleeper;
    private final WaitingCalls waiting;
    private final long startNanos;
    private long waitedMicros;
    private long micros;

    /** The policies in whose bulkheads the call is. */
    private List<Policy> entered = List.of();

    /** The place of this call among those that wait for a slot, null if it does not. */
    private SlotQueues.@Nullable Place place;

    CallWait(Binding binding, WaitBulkhead bulkhead, SlotQueues queues, Sleeper sleeper, WaitingCalls waiting) {
        this.binding = binding;
        this.bulkhead = bulkhead;
        this.queues = queues;
        this.sleeper = sleeper;
        this.waiting = waiting;
        this.startNanos = sleeper.nanos();
    }

    /** Returns how long the call can still wait under a policy, 0 if too many calls wait already. */
    long maxMicros(Policy policy) {
        long left = policy.maxWaitMicros() - waitedMicros;
        return left > 0 && (entered.contains(policy) || bulkhead.hasRoom(policy)) ? left : 0;
    }

    /** Returns the next wait. */
    long micros() {
        return micros;
    }

    /** Returns a future that completes when a call that waits for a slot should go on before its time, null if it waits for none. */
    @Nullable
    CompletableFuture<Void> signal() {
        return place == null ? null : queues.signal(place);
    }

    /** Waits on the calling thread. Throws a {@link CancellationException} if the application ends. */
    void sleep() throws InterruptedException {
        CompletableFuture<Void> signal = signal();
        CompletableFuture<Void> end = waiting.keepWait(signal == null ? new CompletableFuture<>() : signal.copy());
        try {
            sleeper.sleep(end, micros);
        } finally {
            end.complete(null);
        }
        if (end.isCancelled()) {
            throw new CancellationException("canceled during the wait for permits");
        }
    }

    /** Subtracts the time since the start from the max-wait. */
    void woken() {
        waitedMicros = (sleeper.nanos() - startNanos + 999) / 1_000;
    }

    /** Lets the call wait no more. */
    void end() {
        waitedMicros = Long.MAX_VALUE;
        leaveQueue();
    }

    /**
     * Returns whether other calls wait for the same slot already, so that this one waits behind them until the max-wait of the policy of
     * that slot ends.
     */
    boolean isForTurn(List<Charge> charges, Predicate<Charge> needsSlot) {
        SlotQueues.Place waiting = place;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            if (charge.maxWaitMicros() > 0 && needsSlot.test(charge)) {
                Subject key = Subject.of(charge);
                if (waiting == null && queues.isWaitedFor(key) && enter(charges)) {
                    waiting = queues.enter(key);
                    place = waiting;
                }
                if (waiting != null && waiting.isFor(key) && !queues.isFirst(waiting)) {
                    micros = charge.maxWaitMicros();
                    return true;
                }
            }
        }
        return false;
    }

    /** Enters the bulkhead for a wait that a decision asks. Returns whether there is room. */
    boolean enter(TimedDecision timed, long asked) {
        micros = asked;
        return enter(timed.charges());
    }

    private boolean enter(List<Charge> waiting) {
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

    /** Enters the queue of a slot that the call lacks. Leaves the queue of one that it lacks no longer, since others can take that one. */
    void enterQueue(TimedDecision timed) {
        SlotQueues.Place last = place;
        Subject lacking = WaitTimes.lackingSlot(timed, last);
        if (last == null || lacking == null || !last.isFor(lacking)) {
            place = lacking == null ? null : queues.enter(lacking);
            if (last != null) {
                queues.leave(last);
            }
        }
    }

    void leaveQueue() {
        if (place != null) {
            queues.leave(place);
            place = null;
        }
    }

    /** Leaves the queue and the bulkhead. */
    void leave() {
        leaveQueue();
        if (!entered.isEmpty()) {
            bulkhead.leave(entered);
            entered = List.of();
        }
    }
}
