// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.policy.Overrides.Subject;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.TimedDecision;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.slots.SlotQueues;
import io.weir.ratelimit.core.slots.WaitBulkhead;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ConcurrencyLimit;
import io.weir.ratelimit.spi.Limit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The waits of one call under its max-wait: its room in the bulkhead of waiting calls, and its place in the queue of a slot. */
final class CallWait {
    /** The time after which the first call that waits for a slot looks for one that another instance has released. */
    private static final long SLOT_INTERVAL_MICROS = 50_000;

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

    /** Returns how long a call has to wait before it proceeds or calls the backend again, 0 if the decision is final. */
    static long askedBy(TimedDecision timed) {
        if (timed.decision() instanceof Decision.Allowed allowed) {
            return allowed.waitMicros();
        }
        return timed.decision() instanceof Decision.Rejected rejected
                ? untilRoom(timed.charges(), rejected.results())
                : 0;
    }

    /**
     * Returns the longest wait of the limits that rejected the call, 0 if a wait exceeds the max-wait of its charge. A bucket
     * rejects a call only if its slot is later than the max-wait, so a wait does not help, unless the key is blocked.
     */
    private static long untilRoom(List<Charge> charges, List<ChargeResult> results) {
        long longest = 0;
        for (int c = 0; c < results.size(); c++) {
            long maxWait = charges.get(c).maxWaitMicros();
            List<Limit> limits = charges.get(c).policy().limits();
            List<Quota> quotas = results.get(c).quotas();
            for (int i = 0; i < quotas.size(); i++) {
                Limit limit = limits.get(i);
                Quota quota = quotas.get(i);
                if (quota.rejected() && limit instanceof ConcurrencyLimit) {
                    long blocked = Micros.blockedFor(quota);
                    if (maxWait == 0 || limit.permits() == 0 || blocked > maxWait) {
                        return 0;
                    }
                    longest = Math.max(longest, blocked > 0 ? blocked : Math.min(maxWait, SLOT_INTERVAL_MICROS));
                } else if (quota.rejected()) {
                    // A bucket lets no call of a blocked key spend ahead.
                    long delay = quota.blocked() ? 0 : LimitState.maxDelayMicros(limit, maxWait);
                    long retryAfter = Micros.retryAfter(quota);
                    if (retryAfter > maxWait - delay) {
                        return 0;
                    }
                    longest = Math.max(longest, retryAfter);
                }
            }
        }
        return longest;
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
        Subject lacking = lackingSlot(timed, last);
        if (last == null || lacking == null || !last.isFor(lacking)) {
            place = lacking == null ? null : queues.enter(lacking);
            if (last != null) {
                queues.leave(last);
            }
        }
    }

    /** Returns the key whose concurrency limit rejected the call: that of its place, else the first one; null if there is none. */
    private static @Nullable Subject lackingSlot(TimedDecision timed, SlotQueues.@Nullable Place place) {
        Subject first = null;
        List<ChargeResult> results = timed.decision().results();
        for (int i = 0; i < results.size(); i++) {
            Charge charge = timed.charges().get(i);
            int index = charge.policy().concurrencyIndex();
            if (!charge.shadow() && index >= 0) {
                Quota quota = results.get(i).quotas().get(index);
                if (quota.rejected() && !quota.blocked()) {
                    Subject key = Subject.of(charge);
                    if (place != null && place.isFor(key)) {
                        return key;
                    }
                    first = first == null ? key : first;
                }
            }
        }
        return first;
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
