// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.BackendStatus;
import io.weir.ratelimit.spi.Charge;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A store in front of which permits that were taken ahead are spent. A decision stays all or nothing, wherever its permits are. */
final class LeasingStore implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("io.weir.ratelimit");
    private static final long CLOSES_WITHIN_MILLIS = 1_000;

    private final RedisStore store;
    private final Leases leases;
    private final Restraint restraint;
    private final boolean leasing;

    /**
     * A store with no leases yet.
     *
     * @param leasing false for a clock that is not Redis's, since leases go by the time that has passed here
     */
    LeasingStore(RedisStore store, StoredKeys keys, BackendListener listener, boolean leasing) {
        this.store = store;
        this.leasing = leasing;
        this.restraint = new Restraint(keys);
        this.leases =
                new Leases(new Permits(), keys, restraint, System::nanoTime, Leases.Timer.PLATFORM, listener::onLeases);
    }

    private final class Permits implements Lease.Store {
        @Override
        public CompletionStage<Answer> takeAhead(Charge charge) {
            return store.takeAhead(charge);
        }

        @Override
        public CompletableFuture<Void> giveBack(GiveBack what) {
            // Nobody waits for it. What cannot be given back returns with its window.
            return store.giveBackUnspent(what).handle((done, failure) -> {
                if (failure != null) {
                    LOG.log(Level.DEBUG, "not given back: {0}", failure.toString());
                }
                return null;
            });
        }
    }

    Decision acquire(List<Charge> charges) {
        if (!isOfLeases(charges)) {
            return store.acquire(charges);
        }
        Ahead ahead = Ahead.of(leases, charges, true);
        if (ahead.rest().isEmpty()) {
            return ahead.admitted();
        }
        Decision held = held(charges);
        if (held != null) {
            return held;
        }
        Decision decided;
        try {
            decided = store.acquire(ahead.rest());
        } catch (RuntimeException | Error e) {
            ahead.putBack();
            throw e;
        }
        return noted(charges, ahead.joined(decided));
    }

    /** A call with one charge: nothing of it is taken ahead that would have to be put back. */
    private @Nullable Decision held(List<Charge> charges) {
        return charges.size() == 1 ? restraint.refusal(charges.get(0), System.nanoTime()) : null;
    }

    private Decision noted(List<Charge> charges, Decision decision) {
        if (charges.size() == 1 && decision instanceof Decision.Rejected refusal) {
            restraint.refused(charges.get(0), refusal, System.nanoTime());
        }
        return decision;
    }

    CompletableFuture<Decision> acquireAsync(List<Charge> charges) {
        if (!isOfLeases(charges)) {
            return store.acquireAsync(charges);
        }
        Ahead ahead = Ahead.of(leases, charges, false);
        if (ahead.rest().isEmpty()) {
            return CompletableFuture.completedFuture(ahead.admitted());
        }
        Decision held = held(charges);
        if (held != null) {
            return CompletableFuture.completedFuture(held);
        }
        CompletableFuture<Decision> decided;
        try {
            decided = store.acquireAsync(ahead.rest());
        } catch (RuntimeException | Error e) {
            ahead.putBack();
            throw e;
        }
        return decided.whenComplete((decision, failure) -> {
                    if (failure != null) {
                        ahead.putBack();
                    }
                })
                .thenApply(decision -> noted(charges, ahead.joined(decision)));
    }

    /** Whether any charge has a lease, and all can be decided at once and for real. */
    private boolean isOfLeases(List<Charge> charges) {
        boolean any = false;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            if (charge.shadow() || charge.patienceMicros() > 0) {
                return false;
            }
            any |= leasing && charge.policy().lease() > 0;
        }
        return any;
    }

    List<Quota> peek(Charge charge) {
        return store.peek(charge);
    }

    void giveBack(BackendReceipt receipt) {
        receipt.charges().forEach(restraint::forget);
        if (!leases.takeBack(receipt)) {
            store.giveBack(receipt);
        }
    }

    CompletableFuture<Void> giveBackAsync(BackendReceipt receipt) {
        receipt.charges().forEach(restraint::forget);
        return leases.takeBack(receipt) ? CompletableFuture.completedFuture(null) : store.giveBackAsync(receipt);
    }

    /** What is unspent here goes back first, or it would be given back twice where more is given back than was spent. */
    void giveBack(Charge charge) {
        restraint.forget(charge);
        store.giveBack(charge, leases.end(charge, false));
    }

    void reset(Charge charge) {
        drop(charge);
        try {
            store.reset(charge);
        } finally {
            // What was asked for in between may be gone as well.
            drop(charge);
        }
    }

    private void drop(Charge charge) {
        restraint.forget(charge);
        CompletableFuture<Void> unused = leases.end(charge, true);
    }

    BackendStatus status() {
        return store.status();
    }

    @Override
    public void close() {
        try {
            leases.close().get(CLOSES_WITHIN_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.log(Level.DEBUG, "not given back: {0}", e.toString());
        } finally {
            store.close();
        }
    }
}
