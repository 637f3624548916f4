// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.rejection.HotKeyDetector;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The leases of this instance, one per hot key, up to a maximum. While there are leases, a timer checks them, and closes those that are
 * idle.
 */
public final class LeaseTable {
    public static final int MAX_LEASES = 1_024;

    public static final long CHECK_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** After as many checks without a call between them a lease is closed. */
    static final int MAX_IDLE_CHECKS = 10;

    /** One of as many checks asks Redis whether the keys of leases are blocked. */
    static final int CHECKS_PER_BLOCK_CHECK = 10;

    private final PermitSource source;
    private final RedisKeys keys;
    private final RejectionCache rejections;
    private final LongSupplier nanoTime;
    private final Timer timer;
    private final IntConsumer leaseCountListener;
    private final HotKeyDetector hotKeys = new HotKeyDetector();
    private final ConcurrentHashMap<String, KeyLease> leases = new ConcurrentHashMap<>();
    private final AtomicBoolean timerRunning = new AtomicBoolean();
    private final Semaphore places = new Semaphore(MAX_LEASES);
    private volatile boolean closed;

    /** The number of checks. Only one thread at a time checks. */
    private int checks;

    /** The number of which the listener was notified last. Guarded by this. */
    private volatile int notifiedCount;

    /** Creates a table without leases. The listener receives the number of leases that hold permits whenever a check finds another one. */
    public LeaseTable(
            PermitSource source,
            RedisKeys keys,
            RejectionCache rejections,
            LongSupplier nanoTime,
            Timer timer,
            IntConsumer leaseCountListener) {
        this.source = source;
        this.keys = keys;
        this.rejections = rejections;
        this.nanoTime = nanoTime;
        this.timer = timer;
        this.leaseCountListener = leaseCountListener;
    }

    long nanoTime() {
        return nanoTime.getAsLong();
    }

    /** Spends permits of a lease for a charge; null if there are none. Waits for requested permits for a time at most. */
    @Nullable
    public LeasedPermits spend(Charge charge, long maxAwaitNanos, long nowNanos) {
        if (charge.policy().lease() == 0 || leases.isEmpty()) {
            return null;
        }
        String key = keys.of(charge);
        KeyLease lease = leases.get(key);
        if (lease == null) {
            return null;
        }
        if (!lease.isOf(charge.policy())) {
            CompletableFuture<Void> unused = close(key, lease, false);
            return null;
        }
        return maxAwaitNanos > 0 ? lease.spendOrAwait(charge, maxAwaitNanos, nowNanos) : lease.spend(charge, nowNanos);
    }

    /** Records that Redis allowed a charge and how many permits it has left, and begins a lease if the key is hot. */
    public void recordAllowed(Charge charge, long remaining, long nowNanos) {
        if (charge.policy().lease() == 0 || closed) {
            return;
        }
        String key = keys.of(charge);
        KeyLease lease = leases.get(key);
        if (lease == null) {
            lease = hotKeys.isHot(key, nowNanos) ? begin(key, charge) : null;
            if (lease == null) {
                return;
            }
            startTimer();
        }
        if (closed) {
            CompletableFuture<Void> unused = close(key, lease, false);
        } else if (lease.isOf(charge.policy())) {
            lease.recordAllowed(charge.cost(), remaining, rejections.isOverloaded(key, nowNanos), nowNanos);
        }
    }

    private @Nullable KeyLease begin(String key, Charge charge) {
        if (!places.tryAcquire()) {
            return null;
        }
        KeyLease lease = new KeyLease(source, nanoTime, charge);
        KeyLease other = leases.putIfAbsent(key, lease);
        if (other != null) {
            places.release();
        }
        return other == null ? lease : other;
    }

    private void remove(String key, KeyLease lease) {
        if (leases.remove(key, lease)) {
            places.release();
        }
    }

    /** Refunds to leases the charges of a receipt that they have a place for. Returns whether no charge is left to be refunded. */
    public boolean refund(BackendReceipt receipt) {
        if (leases.isEmpty()) {
            return false;
        }
        long now = nanoTime();
        BackendReceipt leased = receipt.split(this::hasPlaceFor);
        for (ChargeStates charged : leased.claim()) {
            KeyLease lease = leases.get(keys.of(charged.charge()));
            if (lease != null && lease.refund(charged, now)) {
                rejections.invalidate(keys.of(List.of(charged.charge())));
            } else {
                CompletableFuture<Void> unused = source.refund(Refund.byReceipt(List.of(charged)));
            }
        }
        return leased.charges().size() == receipt.charges().size();
    }

    private boolean hasPlaceFor(Charge charge) {
        if (charge.policy().lease() == 0 || charge.shadow()) {
            return false;
        }
        KeyLease lease = leases.get(keys.of(charge));
        return lease != null && lease.isOf(charge.policy()) && lease.hasPlaceFor(charge.cost());
    }

    /** Closes the lease of a key, whose state a reset removes. Completes when all permits are refunded. */
    public CompletableFuture<Void> close(Charge charge, boolean resets) {
        String key = keys.of(charge);
        KeyLease lease = leases.get(key);
        return lease == null ? CompletableFuture.completedFuture(null) : close(key, lease, resets);
    }

    private CompletableFuture<Void> close(String key, KeyLease lease, boolean resets) {
        remove(key, lease);
        return lease.close(resets, nanoTime());
    }

    private void startTimer() {
        if (timerRunning.compareAndSet(false, true)) {
            timer.runAfter(CHECK_INTERVAL_NANOS, this::checkAndRestart);
        }
    }

    private void checkAndRestart() {
        try {
            notifyListener(checkLeases());
        } finally {
            timerRunning.set(false);
            if (!leases.isEmpty()) {
                startTimer();
            }
        }
    }

    /** Checks all leases, and returns how many hold permits. */
    private int checkLeases() {
        long now = nanoTime();
        int holding = 0;
        for (Map.Entry<String, KeyLease> each : leases.entrySet()) {
            KeyLease lease = each.getValue();
            CompletableFuture<Void> refunded = lease.check(MAX_IDLE_CHECKS, now);
            if (refunded != null) {
                // Until then a refund of a cost finds the lease and awaits it.
                CompletableFuture<Void> unused = refunded.whenComplete((done, failure) -> remove(each.getKey(), lease));
            }
            holding += lease.unspent() > 0 ? 1 : 0;
            if (checks % CHECKS_PER_BLOCK_CHECK == 0 && lease.unspent() > 0) {
                closeIfBlocked(each.getKey(), lease);
            }
        }
        checks++;
        return holding;
    }

    /** Closes the lease of a blocked key. Without this, its permits would be spent until they end. */
    private void closeIfBlocked(String key, KeyLease lease) {
        CompletionStage<Void> checked = source.isBlocked(lease.charge()).thenAccept(blocked -> {
            if (blocked) {
                CompletableFuture<Void> unused = close(key, lease, false);
            }
        });
        checked.exceptionally(failure -> null);
    }

    /** A check that runs while the table is closed has no number to report. */
    private synchronized void notifyListener(int holding) {
        int count = closed ? 0 : holding;
        if (notifiedCount != count) {
            notifiedCount = count;
            leaseCountListener.accept(count);
        }
    }

    /** Returns the number of keys with a lease that holds permits. */
    public int count() {
        return notifiedCount;
    }

    /** Closes all leases. The stage completes when all permits are refunded, those of running requests included. */
    public CompletableFuture<Void> close() {
        closed = true;
        List<CompletableFuture<Void>> refunds = new ArrayList<>();
        leases.forEach((key, lease) -> refunds.add(close(key, lease, false)));
        notifyListener(0);
        return CompletableFuture.allOf(refunds.toArray(CompletableFuture<?>[]::new));
    }
}
