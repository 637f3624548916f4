// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.redisson.lease.Timer;
import io.weir.ratelimit.redisson.script.SlotCodec.Slot;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Slots that Redis has given, or may have given, to calls that do not have them: their reply came too late or not at all. An instance knows
 * the numbers of the slots that it has asked for, and a release of a slot that Redis has not given has no effect. So it releases them, until
 * Redis has confirmed that they are free. A confirmation does not end the releases, since the lost command can still run afterwards. A slot
 * whose releases fail for longer than it lasts is given up.
 *
 * <p>The only timer runs while there are such slots.
 */
final class UnclaimedSlots {
    /** As many slots of failed calls are known. Others expire by themselves. */
    static final int MAX_SLOTS = 10_000;

    /** How often Redis must confirm that it does not have a slot. Between two confirmations an interval passes. */
    static final int CONFIRMATIONS = 3;

    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final SlotSender sender;
    private final Breaker breaker;
    private final Timer timer;

    /** How many releases of a slot with a short timeout may fail. A stopped Redis can still give the slot when it continues. */
    private static final long LEAST_FAILURES = 60;

    /** The state of a slot: its missing confirmations, and its failed releases. At most one is sent in each interval. */
    private record Missing(int confirmations, long failures) {
        static final Missing ALL = new Missing(CONFIRMATIONS, 0);

        /** Returns the state after a release that has failed; null if the slot has ended since the first one. */
        @Nullable
        Missing afterFailure(Slot slot) {
            long intervals = TimeUnit.MICROSECONDS.toNanos(slot.timeoutMicros()) / INTERVAL_NANOS;
            return failures >= Math.max(LEAST_FAILURES, intervals) ? null : new Missing(CONFIRMATIONS, failures + 1);
        }

        /** Returns the state after a reply; null if the slot is free. */
        @Nullable
        Missing afterReply(List<Boolean> had) {
            return had.contains(true) || confirmations == 1 ? null : new Missing(confirmations - 1, failures);
        }
    }

    private final Map<Slot, Missing> missing = new ConcurrentHashMap<>();

    private final AtomicBoolean running = new AtomicBoolean();
    private volatile boolean closed;

    UnclaimedSlots(SlotSender sender, Breaker breaker, Timer timer) {
        this.sender = sender;
        this.breaker = breaker;
        this.timer = timer;
    }

    /** Releases slots, at once if Redis is available. */
    void add(List<Slot> slots) {
        for (Slot slot : slots) {
            if (missing.size() < MAX_SLOTS) {
                missing.put(slot, Missing.ALL);
            }
        }
        start();
    }

    private void start() {
        if (!closed && !missing.isEmpty() && running.compareAndSet(false, true)) {
            run();
        }
    }

    private void run() {
        if (closed) {
            return;
        }
        // A slot is released again only after the reply, so that a slow Redis does not get more and more releases.
        CompletionStage<Void> released = breaker.rejectsCalls()
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.allOf(
                        missing.keySet().stream().map(this::release).toArray(CompletableFuture<?>[]::new));
        released.whenComplete((done, failure) -> timer.runAfter(INTERVAL_NANOS, this::next));
    }

    private void next() {
        if (!missing.isEmpty()) {
            run();
            return;
        }
        running.set(false);
        start(); // for slots that were added meanwhile
    }

    private CompletableFuture<?> release(Slot slot) {
        return sender.releaseSlots(List.of(slot))
                .handle((had, failure) -> missing.computeIfPresent(
                        slot, (same, state) -> failure == null ? state.afterReply(had) : state.afterFailure(slot)));
    }

    /** Ends the releases. */
    void close() {
        closed = true;
    }
}
