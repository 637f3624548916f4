// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.slots;

import static io.weir.ratelimit.core.message.CoreMessages.MESSAGES;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.policy.Overrides.Subject;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ChargeReceipt;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The slots that running calls of this instance hold. They are renewed three times per timeout, so that only the slots of an instance that
 * does not run any longer expire. They are released in the background. A renewal or a release that fails is tried again every second, a
 * release until the slots have expired.
 *
 * <p>The only timer runs while slots are held or releases are due. Its work is bounded by the number of running calls.
 */
public final class HeldSlots {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");

    /** The greatest number of receipts that the backend renews at once. */
    private static final int BATCH = 512;

    private static final int RENEWALS_PER_TIMEOUT = 3;
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long STOP_MILLIS = 1_000;

    /** A release. An earlier one that failed can have released the slots all the same. */
    private record DueRelease(HeldReceipt held, Receipt receipt, long endNanos, boolean sentBefore) {
        static DueRelease of(HeldReceipt held, Receipt receipt, Sleeper sleeper) {
            return new DueRelease(held, receipt, sleeper.nanos() + held.longestNanos, false);
        }

        DueRelease again() {
            return new DueRelease(held, receipt, endNanos, true);
        }
    }

    private final HoldsSlots backend;
    private final Sleeper sleeper;
    private final SlotQueues queues = new SlotQueues();
    private final Map<HeldReceipt, HeldReceipt> held = new ConcurrentHashMap<>();
    private final Set<DueRelease> due = ConcurrentHashMap.newKeySet();
    private final ReferenceQueue<Receipt> unreachable = new ReferenceQueue<>();
    private final Map<String, AtomicInteger> counts = new ConcurrentHashMap<>();
    private final AtomicLong lost = new AtomicLong();
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    /** The time between two runs of the timer; {@link Long#MAX_VALUE} while it does not run. Guarded by this for changes. */
    private volatile long intervalNanos = Long.MAX_VALUE;

    /** The number of the running timer. Guarded by this. */
    private long timer;

    /** Guarded by this. */
    private boolean stopped;

    private volatile boolean renewing;
    private volatile boolean renewalFailed;
    private volatile SlotListener listener = SlotListener.NONE;

    public HeldSlots(HoldsSlots backend, Sleeper sleeper) {
        this.backend = backend;
        this.sleeper = sleeper;
    }

    /** Returns the number of slots that running calls of this instance hold. */
    public int held(String policy) {
        AtomicInteger count = counts.get(policy);
        return count == null ? 0 : count.get();
    }

    /** Returns the number of receipts since the start whose slots had expired before their calls ended. */
    public long lost() {
        return lost.get();
    }

    /** Sets the listener, which has the numbers of the policies with a concurrency limit from the start. */
    public void listener(SlotListener newListener, Collection<String> policies) {
        listener = newListener;
        policies.forEach(policy -> newListener.held(policy, held(policy)));
    }

    public SlotQueues queues() {
        return queues;
    }

    /** Keeps the slots of a decision, if it has taken some. */
    public void took(Decision decision) {
        Receipt receipt = decision.receipt();
        if (receipt.holdsSlots()) {
            took(receipt);
        }
    }

    private void took(Receipt receipt) {
        List<Subject> slots = new ArrayList<>();
        long timeoutNanos = Long.MAX_VALUE;
        long longestNanos = 0;
        for (Charge charge : charges(receipt)) {
            if (charge.policy().hasConcurrency()) {
                slots.add(Subject.of(charge));
                Limit limit = charge.policy().limits().get(charge.policy().concurrencyIndex());
                timeoutNanos = Math.min(timeoutNanos, limit.window().toNanos());
                longestNanos = Math.max(longestNanos, limit.window().toNanos());
            }
        }
        HeldReceipt taken = new HeldReceipt(receipt, unreachable, slots, timeoutNanos, longestNanos);
        if (held.putIfAbsent(taken, taken) == null) {
            count(taken, 1);
            start(timeoutNanos / RENEWALS_PER_TIMEOUT);
        }
    }

    /** Returns the charges of a receipt, as far as this instance knows them. */
    public static List<Charge> charges(Receipt receipt) {
        Receipt known = receipt instanceof DegradedReceipt degraded ? degraded.local() : receipt;
        return known instanceof ChargeReceipt separate ? separate.charges() : List.of();
    }

    private void count(HeldReceipt receipt, int change) {
        for (Subject slot : receipt.slots) {
            AtomicInteger count = counts.get(slot.policy());
            if (count == null) {
                count = counts.computeIfAbsent(slot.policy(), policy -> new AtomicInteger());
            }
            count.addAndGet(change);
            listener.held(slot.policy(), count.get());
        }
    }

    /** Releases the slots of a receipt that is refunded as well, in the background. The refund may release them first. */
    public void refunded(Receipt receipt) {
        HeldReceipt known = receipt.holdsSlots() ? forget(receipt) : null;
        if (known != null) {
            release(DueRelease.of(known, receipt, sleeper).again());
        }
    }

    /** Removes a receipt. Returns null if it was removed before. */
    private @Nullable HeldReceipt forget(Receipt receipt) {
        HeldReceipt known = held.remove(new HeldReceipt(receipt, unreachable, List.of(), 0, 0));
        if (known != null) {
            count(known, -1);
        }
        return known;
    }

    /** Releases the slots of a receipt in the background. A second release has no effect. */
    public void release(Receipt receipt) {
        if (receipt.holdsSlots()) {
            HeldReceipt known = forget(receipt);
            if (known != null) {
                release(DueRelease.of(known, receipt, sleeper));
            }
        }
    }

    private CompletionStage<Boolean> release(DueRelease release) {
        return backend.release(release.receipt).handle((complete, failure) -> {
            if (failure == null) {
                if (!complete && !release.sentBefore) {
                    lost(release.held);
                }
                release.held.slots.forEach(queues::released);
            } else if (due.add(release.again())) {
                start(RETRY_NANOS);
            }
            return failure == null;
        });
    }

    /** Makes the timer run at least this often. */
    private void start(long nanos) {
        if (nanos < intervalNanos) {
            synchronized (this) {
                if (nanos < intervalNanos && !stopped) {
                    intervalNanos = nanos;
                    schedule();
                }
            }
        }
    }

    /** Starts the next run of the timer. An earlier one that is still due has no effect. The caller holds the monitor. */
    private void schedule() {
        long number = ++timer;
        CompletionStage<Void> next = sleeper.renewalTimer(TimeUnit.NANOSECONDS.toMicros(intervalNanos));
        next.whenComplete((nothing, failure) -> run(number));
    }

    private void run(long number) {
        synchronized (this) {
            if (number != timer) {
                return;
            }
        }
        try {
            removeUnreachable();
            retryReleases();
            renew();
            // Of two threads that change a number at once, the last one to call the listener can have the older number.
            counts.forEach((policy, count) -> listener.held(policy, count.get()));
        } catch (RuntimeException e) {
            // The next run tries again: without renewals, the slots of running calls would expire.
            LOG.log(System.Logger.Level.DEBUG, "Slots were not renewed.", e);
        } finally {
            synchronized (this) {
                if (number == timer) {
                    scheduleNext();
                }
            }
        }
    }

    /** Starts the next run of the timer if it is needed. The caller holds the monitor. */
    private void scheduleNext() {
        intervalNanos = Long.MAX_VALUE;
        long needed = neededNanos();
        if (needed < Long.MAX_VALUE) {
            intervalNanos = needed;
            schedule();
        }
    }

    private long neededNanos() {
        long needed = due.isEmpty() ? Long.MAX_VALUE : RETRY_NANOS;
        for (HeldReceipt receipt : held.keySet()) {
            long renewal = receipt.timeoutNanos / RENEWALS_PER_TIMEOUT;
            needed = Math.min(needed, renewalFailed ? Math.min(RETRY_NANOS, renewal / 2) : renewal);
        }
        return needed;
    }

    private void removeUnreachable() {
        for (Reference<? extends Receipt> each = unreachable.poll(); each != null; each = unreachable.poll()) {
            HeldReceipt known = held.remove((HeldReceipt) each);
            if (known != null) {
                count(known, -1);
                if (isFirst("unreleased", known)) {
                    MESSAGES.log("WEIR-426", known.policy(), known.timeoutMillis());
                }
            }
        }
    }

    private void retryReleases() {
        long now = sleeper.nanos();
        due.removeIf(release -> release.endNanos - now <= 0);
        for (DueRelease release : List.copyOf(due)) {
            // A release that fails again is added again, so each one is sent once at a time.
            if (due.remove(release)) {
                release(release);
            }
        }
    }

    private void renew() {
        List<Receipt> receipts = new ArrayList<>();
        for (HeldReceipt each : held.keySet()) {
            Receipt receipt = each.get();
            if (receipt != null && !each.lost) {
                receipts.add(receipt);
            }
        }
        if (!receipts.isEmpty() && !renewing) {
            renewing = true;
            try {
                renew(receipts, 0, true).whenComplete((succeeded, failure) -> renewed(Boolean.TRUE.equals(succeeded)));
            } catch (RuntimeException e) {
                renewed(false);
                throw e;
            }
        }
    }

    private void renewed(boolean succeeded) {
        renewalFailed = !succeeded;
        renewing = false;
        if (!succeeded) {
            start(neededNanos());
        }
    }

    /**
     * Renews one batch after the other, so that the backend has time for decisions in between. Completes with whether all have succeeded:
     * a part of the backend that fails, such as one master, does not stop the renewals on the others.
     */
    private CompletionStage<Boolean> renew(List<Receipt> receipts, int from, boolean succeeded) {
        if (from >= receipts.size()) {
            return CompletableFuture.completedStage(succeeded);
        }
        int to = Math.min(receipts.size(), from + BATCH);
        return backend.renew(receipts.subList(from, to))
                .handle((expired, failure) -> {
                    if (failure == null) {
                        expired.forEach(this::lost);
                    }
                    return failure == null;
                })
                .thenCompose(renewed -> renew(receipts, to, succeeded && renewed));
    }

    private void lost(Receipt receipt) {
        HeldReceipt known = held.get(new HeldReceipt(receipt, unreachable, List.of(), 0, 0));
        // A receipt that was released meanwhile reports the loss with its release.
        if (known != null) {
            lost(known);
        }
    }

    private void lost(HeldReceipt known) {
        if (!known.lost) {
            known.lost = true;
            lost.incrementAndGet();
            listener.lost(known.policy());
            if (isFirst("lost", known)) {
                MESSAGES.log("WEIR-425", known.policy(), known.timeoutMillis());
            }
        }
    }

    /** Returns whether an event is the first one of a policy: many calls can be concerned at once. */
    private boolean isFirst(String event, HeldReceipt receipt) {
        return logged.add(event + ' ' + receipt.policy());
    }

    /** Releases all slots, because the application ends. Waits a short time for the backend. */
    public void stop() {
        List<CompletableFuture<Boolean>> releases = new ArrayList<>();
        for (HeldReceipt each : held.keySet()) {
            Receipt receipt = each.get();
            if (receipt != null && forget(receipt) != null) {
                releases.add(release(DueRelease.of(each, receipt, sleeper)).toCompletableFuture());
            }
        }
        synchronized (this) {
            stopped = true;
            timer++; // ends the timer
        }
        try {
            CompletableFuture.allOf(releases.toArray(CompletableFuture<?>[]::new))
                    .get(STOP_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(System.Logger.Level.DEBUG, "Slots were not released: {0}", e.toString());
        }
    }
}
