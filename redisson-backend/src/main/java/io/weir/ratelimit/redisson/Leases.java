// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The leases of this instance, one for each busy key, up to a number. What nobody asks for goes back: a timer looks at them while there
 * are some.
 */
final class Leases {
    /** More keys than this are not that busy each. */
    static final int MOST = 1_024;

    static final long LOOK_EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Looks without a call between them, after which a lease is given back. */
    static final int IDLE_LOOKS = 10;

    /** Runs a task later, and none beside another. */
    interface Timer {
        /** That of the platform, on its own thread. */
        Timer PLATFORM = (nanos, task) -> CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run)
                .execute(task);

        void runIn(long nanos, Runnable task);
    }

    private final Lease.Store store;
    private final StoredKeys keys;
    private final Restraint restraint;
    private final LongSupplier nanoTime;
    private final Timer timer;
    private final IntConsumer gauge;
    private final Busyness busyness = new Busyness();
    private final ConcurrentHashMap<String, Lease> leases = new ConcurrentHashMap<>();
    private final AtomicBoolean running = new AtomicBoolean();
    private final Semaphore places = new Semaphore(MOST);
    private volatile boolean closed;

    /** What the gauge was told last. Guarded by this. */
    private int told;

    /**
     * No leases yet.
     *
     * @param gauge is told of how many keys permits are held, when that has changed
     */
    Leases(
            Lease.Store store,
            StoredKeys keys,
            Restraint restraint,
            LongSupplier nanoTime,
            Timer timer,
            IntConsumer gauge) {
        this.store = store;
        this.keys = keys;
        this.restraint = restraint;
        this.nanoTime = nanoTime;
        this.timer = timer;
        this.gauge = gauge;
    }

    long nanoTime() {
        return nanoTime.getAsLong();
    }

    /**
     * Permits for a charge, null if there are none here.
     *
     * @param waits whether those that are on their way are waited for, for a moment
     */
    Lease.@Nullable Taken take(Charge charge, boolean waits, long nowNanos) {
        if (charge.policy().lease() == 0 || leases.isEmpty()) {
            return null;
        }
        String key = keys.of(charge, 0);
        Lease lease = leases.get(key);
        if (lease == null) {
            return null;
        }
        if (!lease.isOf(charge.policy())) {
            CompletableFuture<Void> unused = end(key, lease, false);
            return null;
        }
        return waits ? lease.takeSoon(charge, nowNanos) : lease.take(charge, nowNanos);
    }

    /**
     * Hears of a charge that Redis admitted.
     *
     * @param remaining what Redis has left for the key
     */
    void admitted(Charge charge, long remaining, long nowNanos) {
        if (charge.policy().lease() == 0 || closed) {
            return;
        }
        String key = keys.of(charge, 0);
        Lease lease = leases.get(key);
        if (lease == null) {
            lease = busyness.isBusy(key, nowNanos) ? begun(key, charge) : null;
            if (lease == null) {
                return;
            }
            look();
        }
        if (closed) {
            CompletableFuture<Void> unused = end(key, lease, false);
        } else if (lease.isOf(charge.policy())) {
            lease.admitted(charge.cost(), remaining, restraint.isOverloaded(key, nowNanos), nowNanos);
        }
    }

    /** The lease of a key that is busy, null if there is no place for one. */
    private @Nullable Lease begun(String key, Charge charge) {
        if (!places.tryAcquire()) {
            return null;
        }
        Lease mine = new Lease(store, nanoTime, charge);
        Lease other = leases.putIfAbsent(key, mine);
        if (other != null) {
            places.release();
        }
        return other == null ? mine : other;
    }

    private void remove(String key, Lease lease) {
        if (leases.remove(key, lease)) {
            places.release();
        }
    }

    /**
     * Takes of what a receipt gives back what a lease has a place for, and gives back itself what it had none for after all.
     *
     * @return whether that was all
     */
    boolean takeBack(BackendReceipt receipt) {
        if (leases.isEmpty()) {
            return false;
        }
        long now = nanoTime();
        BackendReceipt mine = receipt.part(this::hasLease);
        for (BackendReceipt.Entry entry : mine.use()) {
            Lease lease = leases.get(keys.of(entry.charge(), 0));
            if (lease == null || !lease.takeBack(entry, now)) {
                CompletableFuture<Void> unused = store.giveBack(GiveBack.ofReceipt(entry.charge(), entry.states()));
            }
        }
        return mine.charges().size() == receipt.charges().size();
    }

    private boolean hasLease(Charge charge) {
        if (charge.policy().lease() == 0 || charge.shadow()) {
            return false;
        }
        Lease lease = leases.get(keys.of(charge, 0));
        return lease != null && lease.isOf(charge.policy()) && lease.hasPlaceFor(charge.cost());
    }

    /**
     * Ends the lease of a key.
     *
     * @param drops whether its state is dropped, with what was charged to it; else the permits go back
     * @return completed when they are
     */
    CompletableFuture<Void> end(Charge charge, boolean drops) {
        String key = keys.of(charge, 0);
        Lease lease = leases.get(key);
        return lease == null ? CompletableFuture.completedFuture(null) : end(key, lease, drops);
    }

    private CompletableFuture<Void> end(String key, Lease lease, boolean drops) {
        remove(key, lease);
        return lease.close(drops, nanoTime());
    }

    private void look() {
        if (running.compareAndSet(false, true)) {
            timer.runIn(LOOK_EVERY_NANOS, this::lookAtAll);
        }
    }

    private void lookAtAll() {
        try {
            tell(holdingAfterALook());
        } finally {
            running.set(false);
            if (!leases.isEmpty()) {
                look();
            }
        }
    }

    private int holdingAfterALook() {
        long now = nanoTime();
        int holding = 0;
        for (Map.Entry<String, Lease> each : leases.entrySet()) {
            Lease lease = each.getValue();
            CompletableFuture<Void> ended = lease.look(IDLE_LOOKS, now);
            if (ended != null) {
                // Until then it can be waited for, by who gives back a cost.
                CompletableFuture<Void> unused = ended.whenComplete((done, failure) -> remove(each.getKey(), lease));
            }
            holding += lease.unspent() > 0 ? 1 : 0;
        }
        return holding;
    }

    /** A look that was under way when this was closed has nothing to tell. */
    private synchronized void tell(int holding) {
        int now = closed ? 0 : holding;
        if (told != now) {
            told = now;
            gauge.accept(now);
        }
    }

    /** Gives all permits back, also those that are being asked for. */
    CompletableFuture<Void> close() {
        closed = true;
        List<CompletableFuture<Void>> given = new ArrayList<>();
        leases.forEach((key, lease) -> given.add(end(key, lease, false)));
        tell(0);
        return CompletableFuture.allOf(given.toArray(CompletableFuture<?>[]::new));
    }
}
