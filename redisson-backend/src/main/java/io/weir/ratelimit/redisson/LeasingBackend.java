// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.redisson.lease.LeaseTable;
import io.weir.ratelimit.redisson.lease.LeasedAcquire;
import io.weir.ratelimit.redisson.lease.PermitSource;
import io.weir.ratelimit.redisson.lease.Timer;
import io.weir.ratelimit.redisson.rejection.RejectionCache;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;

/**
 * The leases in front of the store: permits of hot keys are spent from memory. A decision remains all or nothing, whether its permits come
 * from leases or from Redis.
 */
final class LeasingBackend implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");
    private static final long CLOSE_TIMEOUT_MILLIS = 1_000;

    /** The longest wait of a thread for permits that are requested. A reply takes longer only if Redis is slow. */
    private static final Duration MAX_AWAIT = Duration.ofMillis(10);

    /** The wait is at most one part of this many of the deadline, so that a call to Redis has time after it. */
    private static final int PARTS_OF_DEADLINE = 4;

    private final RedisStore store;
    private final StateUpdates updates;
    private final LeaseTable leases;
    private final RejectionCache rejections;
    private final boolean enabled;
    private final long maxAwaitNanos;

    /**
     * Creates a backend without leases. They are not used for a clock that is not Redis's, since leases end by the clock of this instance.
     */
    LeasingBackend(
            RedisStore store,
            RedisKeys keys,
            RejectionCache rejections,
            BackendListener listener,
            boolean enabled,
            Timer timer) {
        this.store = store;
        this.updates = store.updates();
        this.rejections = rejections;
        this.enabled = enabled;
        this.maxAwaitNanos = Math.min(
                MAX_AWAIT.toNanos(),
                store.deadline().dividedBy(PARTS_OF_DEADLINE).toNanos());
        this.leases =
                new LeaseTable(new StorePermits(), keys, rejections, System::nanoTime, timer, listener::onLeaseCount);
    }

    private final class StorePermits implements PermitSource {
        @Override
        public CompletionStage<Boolean> isBlocked(Charge charge) {
            return store.isBlocked(charge);
        }

        @Override
        public CompletionStage<AcquireResult> acquire(Charge charge) {
            return store.acquireForLease(charge);
        }

        @Override
        public CompletableFuture<Void> refund(Refund refund) {
            return updates.refundForLease(refund).handle((done, failure) -> {
                if (failure != null) {
                    LOG.log(Level.DEBUG, "A refund of leased permits failed: {0}", failure.toString());
                }
                return null;
            });
        }
    }

    Decision acquire(List<Charge> charges) {
        if (!usesLeases(charges)) {
            return store.acquire(charges);
        }
        LeasedAcquire call = new LeasedAcquire(leases, charges, maxAwaitNanos);
        if (call.unleased().isEmpty()) {
            return call.allowed();
        }
        Optional<Decision.Rejected> held = held(charges);
        if (held.isPresent()) {
            return held.get();
        }
        Decision decided;
        try {
            decided = store.acquire(call.unleased(), call.startNanos());
        } catch (RuntimeException | Error e) {
            call.refund();
            throw e;
        }
        return complete(call, charges, decided);
    }

    CompletableFuture<Decision> acquireAsync(List<Charge> charges) {
        if (!usesLeases(charges)) {
            return store.acquireAsync(charges);
        }
        LeasedAcquire call = new LeasedAcquire(leases, charges, 0);
        if (call.unleased().isEmpty()) {
            return CompletableFuture.completedFuture(call.allowed());
        }
        Optional<Decision.Rejected> held = held(charges);
        if (held.isPresent()) {
            return CompletableFuture.completedFuture(held.get());
        }
        CompletableFuture<Decision> decided;
        try {
            decided = store.acquireAsync(call.unleased());
        } catch (RuntimeException | Error e) {
            call.refund();
            throw e;
        }
        return decided.whenComplete((decision, failure) -> {
                    if (failure != null) {
                        call.refund();
                    }
                })
                .thenApply(decision -> complete(call, charges, decision));
    }

    /** Returns whether a charge has a lease, and no charge is in shadow mode or may wait. */
    private boolean usesLeases(List<Charge> charges) {
        boolean leased = false;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            if (charge.shadow() || charge.maxWaitMicros() > 0) {
                return false;
            }
            leased |= enabled && charge.policy().lease() > 0;
        }
        return leased;
    }

    /** Returns the held rejection of a call with a single charge. It has no leased permits that would have to be refunded. */
    private Optional<Decision.Rejected> held(List<Charge> charges) {
        return charges.size() == 1 ? rejections.findHold(charges.get(0), System.nanoTime()) : Optional.empty();
    }

    private Decision complete(LeasedAcquire call, List<Charge> charges, Decision decided) {
        Decision decision = call.complete(decided);
        if (charges.size() == 1 && decision instanceof Decision.Rejected rejection) {
            rejections.recordRejection(charges.get(0), rejection, System.nanoTime());
        }
        return decision;
    }

    /** Returns the store, for calls that leases do not concern. */
    RedisStore store() {
        return store;
    }

    CompletableFuture<Void> refund(BackendReceipt receipt) {
        return leases.refund(receipt) ? CompletableFuture.completedFuture(null) : updates.refund(receipt);
    }

    /**
     * Settles charges. Permits of a lease were charged with its grant, so their settlement changes the state in Redis as well. Permits that
     * the lease still holds can be spent although the key is in debt: they are charged already.
     */
    CompletableFuture<List<Charge>> settle(BackendReceipt receipt, Predicate<Charge> selection, long actualCost) {
        return updates.settle(receipt, selection, actualCost);
    }

    /**
     * Refunds a cost after the unspent permits of the lease: they would be refunded twice if the cost is greater than what calls have
     * spent.
     */
    CompletableFuture<Void> refund(Charge charge) {
        return updates.refund(charge, leases.close(charge, false));
    }

    /** Removes the states of charges. */
    void reset(List<Charge> charges) {
        charges.forEach(this::dropLease);
        try {
            updates.reset(charges);
        } finally {
            // A lease that has begun meanwhile may hold permits from before the reset.
            charges.forEach(this::dropLease);
        }
    }

    LeaseTable leases() {
        return leases;
    }

    private void dropLease(Charge charge) {
        CompletableFuture<Void> unused = leases.close(charge, true);
    }

    RateLimitBackend.Status status() {
        RateLimitBackend.Status status = store.status();
        return new RateLimitBackend.Status(
                status.initialized(), status.breakerOpen(), status.probeAfter(), leases.count());
    }

    @Override
    public void close() {
        try {
            leases.close().get(CLOSE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(Level.DEBUG, "A refund of leased permits failed: {0}", e.toString());
        } finally {
            store.close();
        }
    }
}
