// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Lease of one hot key: a grant that is being spent, the next grant, which is requested when three quarters of the lease are spent, and the
 * request for it. Permits are spent without a lock. The lock guards the replacement of a grant, and is never held while Redis is called.
 */
public final class KeyLease {
    /** A request takes one part of this many of the remaining permits, so that as many instances get as much. */
    private static final int SHARE = 8;

    /** The same for an overloaded key, whose permits were held back to be acquired in one request. */
    private static final int SHARE_UNDER_OVERLOAD = 2;

    /** The next grant is requested when one part of this many of the lease is left. */
    private static final int REQUEST_BELOW = 4;

    /** A request for fewer calls is not made: the last permits of a limit are charged call by call, and so shared exactly. */
    private static final int MIN_CALLS = 4;

    private final PermitSource source;
    private final LongSupplier nanoTime;
    private final PolicyLimits policy;
    private final String storedKey;
    private final GrantRequest request;
    private final PermitWaiters waiters = new PermitWaiters();
    private volatile @Nullable Grant current;
    private volatile @Nullable Grant next;

    /** The permits that Redis had left when it was last called. */
    private volatile long remaining;

    private volatile int share = SHARE;

    /** The permits that are requested. Guarded by this. */
    private long requested;

    /** Guarded by this. */
    private boolean closed;

    /** Whether the lease was closed because the state of its key was removed. Guarded by this. */
    private boolean reset;

    /** Completes when all refunds so far have. Guarded by this. */
    private CompletableFuture<Void> refunds = CompletableFuture.completedFuture(null);

    private long lastUsageMark;
    private int idleChecks;

    public KeyLease(PermitSource source, LongSupplier nanoTime, Charge charge) {
        this.source = source;
        this.nanoTime = nanoTime;
        this.policy = charge.policy();
        this.storedKey = charge.storedKey();
        this.request = new GrantRequest(nanoTime);
    }

    /** Returns whether the lease is of these limits. Permits of other limits are not spent. */
    boolean isOf(PolicyLimits limits) {
        return policy.equals(limits);
    }

    /** Returns a charge of the key of the lease. */
    Charge charge() {
        return new Charge(policy, storedKey, 1);
    }

    /** Spends permits for a call, and requests the next grant in time; null if there are too few permits. */
    @Nullable
    LeasedPermits spend(Charge charge, long nowNanos) {
        for (Grant grant = current; grant != null; grant = current) {
            long left = grant.spend(charge.cost(), nowNanos);
            if (left >= 0) {
                if (left <= policy.lease() / REQUEST_BELOW) {
                    requestGrant(charge.cost(), nowNanos);
                }
                return new LeasedPermits(this, grant, charge, left);
            }
            if (next == null && !grant.isExhausted(nowNanos)) {
                return null;
            }
            retire(grant, nowNanos);
        }
        return null;
    }

    /**
     * Spends permits for a call. If there are too few and a grant is requested, the thread waits for it, up to a time after the request:
     * that costs the caller less than a call to Redis, and Redis nothing.
     */
    @Nullable
    public LeasedPermits spendOrAwait(Charge charge, long maxAwaitNanos, long nowNanos) {
        LeasedPermits permits = spend(charge, nowNanos);
        boolean waited = false;
        for (long left = request.awaitNanos(maxAwaitNanos);
                permits == null && left > 0 && !Thread.currentThread().isInterrupted();
                left = request.awaitNanos(maxAwaitNanos)) {
            waited = true;
            PermitWaiters.Waiter waiter = waiters.add();
            permits = spend(charge, nanoTime.getAsLong());
            if (permits == null) {
                waiter.await(left);
            }
            waiters.remove(waiter);
            permits = permits == null ? spend(charge, nanoTime.getAsLong()) : permits;
        }
        if (waited && unspent() > 0) {
            waiters.wakeOne();
        }
        return permits;
    }

    /** Replaces a grant by the next one. */
    private void retire(Grant grant, long nowNanos) {
        synchronized (this) {
            if (current != grant) {
                return;
            }
            current = next;
            next = null;
        }
        CompletableFuture<Void> unused = close(grant, nowNanos);
    }

    /** Closes a grant and refunds its permits, unless the state of the key is removed. */
    private CompletableFuture<Void> close(Grant grant, long nowNanos) {
        List<Refund> unspent = grant.close(nowNanos);
        synchronized (this) {
            if (reset) {
                return CompletableFuture.completedFuture(null);
            }
        }
        CompletableFuture<Void> refunded =
                CompletableFuture.allOf(unspent.stream().map(source::refund).toArray(CompletableFuture<?>[]::new));
        synchronized (this) {
            refunds = refunds.isDone() ? refunded : CompletableFuture.allOf(refunds, refunded);
        }
        return refunded;
    }

    /** Records that Redis allowed a call of the key, and requests a grant. Many calls of an overloaded key are rejected. */
    public void recordAllowed(long cost, long remainingPermits, boolean overloaded, long nowNanos) {
        remaining = remainingPermits;
        share = overloaded ? SHARE_UNDER_OVERLOAD : SHARE;
        requestGrant(cost, nowNanos);
    }

    private void requestGrant(long cost, long nowNanos) {
        CompletableFuture<Void> completion = next == null ? request.begin(nowNanos) : null;
        if (completion == null) {
            return;
        }
        long permits;
        synchronized (this) {
            permits = closed || next != null ? 0 : permitsToRequest(cost, nowNanos);
            requested = permits;
        }
        if (permits == 0) {
            request.endUnsent();
            completion.complete(null);
            return;
        }
        Charge charge = new Charge(policy, storedKey, permits);
        acquire(charge)
                .handle((result, failure) -> addGrant(charge, result))
                .thenCompose(refunded -> refunded)
                .whenComplete((done, failure) -> completion.complete(null));
    }

    private CompletionStage<AcquireResult> acquire(Charge charge) {
        try {
            return source.acquire(charge);
        } catch (RuntimeException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    /** Returns permits for whole calls of a cost, 0 if they are not worth a request. */
    private long permitsToRequest(long cost, long nowNanos) {
        Grant grant = current;
        long known = grant == null ? remaining : Math.min(remaining, grant.remaining(nowNanos));
        long permits = Math.min(policy.lease() - unspent(), known / share);
        return permits / MIN_CALLS < cost ? 0 : permits / cost * cost;
    }

    /** Adds the permits that a request brought, if it brought any. Completes when those are refunded that the lease has no use for. */
    private CompletableFuture<Void> addGrant(Charge charge, @Nullable AcquireResult result) {
        long now = nanoTime.getAsLong();
        Grant grant = result == null || !result.spent()
                ? null
                : new Grant(charge, result.charges().get(0).states(), result.time());
        if (add(grant, now)) {
            request.end();
            waiters.wakeOne();
            return CompletableFuture.completedFuture(null);
        }
        CompletableFuture<Void> refunded = grant == null ? CompletableFuture.completedFuture(null) : close(grant, now);
        request.endWithoutPermits();
        waiters.wakeAll();
        return refunded;
    }

    /** Adds a grant; false if it cannot be used. */
    private synchronized boolean add(@Nullable Grant grant, long nowNanos) {
        requested = 0;
        if (grant == null || closed || grant.isExhausted(nowNanos)) {
            return false;
        }
        next = current == null ? null : grant;
        current = current == null ? grant : current;
        remaining = grant.remaining(nowNanos);
        return true;
    }

    /** Returns whether the lease has a place for permits, as far as their number goes. */
    synchronized boolean hasPlaceFor(long cost) {
        return current != null && unspent() + requested + cost <= policy.lease();
    }

    /** Refunds a charge to the lease; false if the lease has no place for it, or it was charged to other windows. */
    boolean refund(ChargeStates charged, long nowNanos) {
        Grant grant = current;
        return grant != null
                && grant.hasWindowsOf(charged.states())
                && refund(grant, charged.charge().cost(), nowNanos);
    }

    /** Refunds permits that were spent from this lease, to Redis if the lease has no place for them. */
    void refund(LeasedPermits permits, long nowNanos) {
        if (!refund(permits.grant(), permits.charge().cost(), nowNanos)) {
            CompletableFuture<Void> unused = source.refund(Refund.byReceipt(List.of(permits.receiptEntry())));
        }
    }

    private synchronized boolean refund(Grant grant, long cost, long nowNanos) {
        return hasPlaceFor(cost) && grant.refund(cost, nowNanos);
    }

    /** Returns the permits that the lease holds. */
    public long unspent() {
        Grant first = current;
        Grant second = next;
        return (first == null ? 0 : first.unspent()) + (second == null ? 0 : second.unspent());
    }

    /** Returns the grant that was charged last, or the given one if the lease holds none. */
    Grant latestGrant(Grant otherwise) {
        Grant second = next;
        Grant last = second == null ? current : second;
        return last == null ? otherwise : last;
    }

    /**
     * Retires an expired grant. Closes the lease after a number of checks without a call between them. Returns the refund of its permits;
     * null while the lease is in use.
     */
    @Nullable
    CompletableFuture<Void> check(int maxIdleChecks, long nowNanos) {
        Grant grant = current;
        if (grant != null && grant.isExhausted(nowNanos)) {
            retire(grant, nowNanos);
        }
        grant = current;
        long mark = grant == null ? 0 : grant.usageMark();
        idleChecks = mark == lastUsageMark ? idleChecks + 1 : 0;
        lastUsageMark = mark;
        boolean closes = idleChecks >= maxIdleChecks && request.stop();
        return closes ? close(false, nowNanos) : null;
    }

    /**
     * Closes the lease: none of its permits is spent any more. Resets remove the state of the key; otherwise the permits are refunded.
     * Completes when all are refunded, those of a running request included.
     */
    CompletableFuture<Void> close(boolean resets, long nowNanos) {
        List<Grant> grants = new ArrayList<>(2);
        synchronized (this) {
            closed = true;
            reset |= resets;
            if (current != null) {
                grants.add(current);
            }
            if (next != null) {
                grants.add(next);
            }
            current = null;
            next = null;
        }
        for (Grant grant : grants) {
            CompletableFuture<Void> unused = close(grant, nowNanos);
        }
        // Read in this order: what a request that has ended refunds is among the refunds.
        CompletableFuture<Void> requestCompletion = request.completion();
        synchronized (this) {
            return CompletableFuture.allOf(requestCompletion, refunds);
        }
    }
}
