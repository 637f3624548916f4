// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.HoldsSlots;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RemembersRejections;
import io.weir.ratelimit.spi.SettlesCharges;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The in-process backend. The keys are spread over shards with one lock each. A decision over several limits holds the locks of its
 * keys' shards and takes their states, so it is atomic over all of its limits. The locks are acquired in ascending order, so decisions
 * cannot deadlock. A decision with one limit about a known key replaces its state without a lock.
 *
 * <p>The number of keys is bounded. If a new key needs a place, the backend drops some keys whose state equals an untouched one. It
 * never drops another key, so a flood of new keys cannot reset an exhausted key. If it finds none among the keys that it examines, a few
 * thousand at most, a call with a new key fails with {@link BackendException.Reason#FULL}. {@link #acquireApproximately} then decides it
 * with counts that new keys share.
 */
public final class LocalBackend
        implements ChargedResults.InProcessBackend, SettlesCharges, HoldsSlots, BlocksKeys, RemembersRejections {
    private final TimeSource time;

    /** The clock of the process; null if the clock is another one. */
    private final @Nullable LocalClock processClock;

    private final StateTable table;
    private final UnlockedAcquire withoutLock;
    private final LocalRefunds refunds;
    private final LocalBlocks blocks;

    /** The message of each call that finds no place. A flood of new keys must not create it each time. */
    private final String fullMessage;

    /** Creates a backend for one key or more, with the clock of the process. */
    public LocalBackend(int maxKeys) {
        this(maxKeys, LocalClock.ofProcess());
    }

    /** Creates a backend for one key or more, with another clock. */
    public LocalBackend(int maxKeys, TimeSource time) {
        if (maxKeys < 1) {
            throw new IllegalArgumentException("maxKeys must be at least 1");
        }
        this.time = time;
        this.processClock = time instanceof LocalClock clock ? clock : null;
        this.table = new StateTable(maxKeys, processClock == null ? () -> 0 : processClock::forwardMicros);
        this.blocks = new LocalBlocks(table, time, maxKeys);
        this.refunds = new LocalRefunds(table, time);
        this.withoutLock = new UnlockedAcquire(table, time);
        this.fullMessage = "the local backend is full: it can drop none of its " + maxKeys
                + " keys (ratelimit.local.max-keys); under on-failure=open, new keys are counted approximately";
    }

    @Override
    public String name() {
        return "local";
    }

    @Override
    public boolean isConfigured() {
        return true;
    }

    /** Returns the number of keys, including untouched keys that the backend has not dropped yet. */
    public int size() {
        return table.size();
    }

    @Override
    public long atNanos(ChargedResults results) {
        return processClock == null ? System.nanoTime() : processClock.nanos(results.nowMicros());
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        Decision decision = withoutLock.decide(charges);
        return decision == null ? acquireAll(charges) : decision;
    }

    @Override
    public Supplier<Decision> acquireOf(List<Charge> charges) {
        if (!UnlockedAcquire.isPossible(charges)) {
            return () -> acquireAll(charges);
        }
        UnlockedAcquire.Repeated repeated = withoutLock.repeated(charges.get(0));
        return () -> {
            Decision decision = repeated.decide();
            return decision == null ? acquireAll(charges) : decision;
        };
    }

    private Decision acquireAll(List<Charge> charges) {
        PendingCharge[] pending = PendingCharge.of(charges);
        Decision decision = tryAcquire(pending);
        while (decision == null) {
            if (!table.removeUntouched(time)) {
                return acquireWithoutShadows(charges);
            }
            decision = tryAcquire(pending);
        }
        return decision;
    }

    /** Decides, or returns null if there is no place for a new key. */
    private @Nullable Decision tryAcquire(PendingCharge[] charges) {
        long shards = lock(charges);
        try {
            return new LockedAcquire(table, charges, time.micros()).decide();
        } finally {
            unlock(charges, shards);
        }
    }

    /** Locks the shards of charges, and then takes the stored states. Returns the shards. */
    private long lock(PendingCharge[] charges) {
        long shards = 0;
        for (PendingCharge charge : charges) {
            shards |= charge.shards();
        }
        table.lock(shards);
        for (PendingCharge charge : charges) {
            charge.take(table);
        }
        return shards;
    }

    private void unlock(PendingCharge[] charges, long shards) {
        for (PendingCharge charge : charges) {
            charge.release();
        }
        table.unlock(shards);
    }

    /** Returns no rejection, because a call that fails here fails for its new keys. */
    @Override
    public Optional<Decision.Rejected> knownRejection(List<Charge> charges) {
        return Optional.empty();
    }

    @Override
    public Optional<Decision> acquireApproximately(List<Charge> charges) {
        List<Charge> enforced = enforced(charges);
        if (enforced.isEmpty()) {
            return Optional.empty();
        }
        PendingCharge[] pending = PendingCharge.of(enforced);
        long shards = lock(pending);
        try {
            return Optional.ofNullable(decideApproximately(pending))
                    .map(decision -> withoutShadows(charges, enforced, decision));
        } finally {
            unlock(pending, shards);
        }
    }

    @Override
    public boolean isApproximate(Charge charge, int index) {
        StateKey key = StateKey.of(charge, index);
        long shard = StateTable.shardOf(key);
        table.lock(shard);
        try {
            return table.isApproximate(key, charge.policy().limits().get(index), time.micros());
        } finally {
            table.unlock(shard);
        }
    }

    private @Nullable Decision decideApproximately(PendingCharge[] charges) {
        table.sketches().lock();
        try {
            return new LockedAcquire(table, charges, time.micros()).decideApproximately();
        } finally {
            table.sketches().unlock();
        }
    }

    /** Leaves out the shadow charges if the backend is full, because a shadow charge must not make a call fail. */
    private Decision acquireWithoutShadows(List<Charge> charges) {
        List<Charge> enforced = enforced(charges);
        if (enforced.isEmpty() || enforced.size() == charges.size()) {
            throw new BackendException(BackendException.Reason.FULL, fullMessage, null);
        }
        return withoutShadows(charges, enforced, acquireAll(enforced));
    }

    /** Returns the decision on charges, given that on the enforced ones. */
    private static Decision withoutShadows(List<Charge> charges, List<Charge> enforced, Decision ofEnforced) {
        if (enforced.size() == charges.size()) {
            return ofEnforced;
        }
        List<ChargeResult> results = ChargeStates.withoutShadows(charges, ofEnforced.results());
        return ofEnforced instanceof Decision.Allowed allowed
                ? new Decision.Allowed(results, allowed.receipt(), allowed.waitMicros())
                : new Decision.Rejected(results);
    }

    private static List<Charge> enforced(List<Charge> charges) {
        for (Charge charge : charges) {
            if (charge.shadow()) {
                return charges.stream().filter(each -> !each.shadow()).toList();
            }
        }
        return charges;
    }

    private static <T> CompletionStage<T> staged(Supplier<T> operation) {
        try {
            return CompletableFuture.completedStage(operation.get());
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        return staged(() -> acquire(charges));
    }

    @Override
    public List<Quota> peek(List<Charge> charges) {
        return charges.stream().flatMap(charge -> peek(charge).stream()).toList();
    }

    private List<Quota> peek(Charge charge) {
        PendingCharge[] pending = {new PendingCharge(charge)};
        long shards = lock(pending);
        try {
            long now = time.micros();
            pending[0].read(table, now);
            return pending[0].result().quotas(false, now);
        } finally {
            unlock(pending, shards);
        }
    }

    @Override
    public CompletionStage<Void> refund(Receipt receipt) {
        if (receipt instanceof BackendReceipt spent) {
            refunds.refund(spent);
        }
        return CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<List<Charge>> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        if (!(receipt instanceof BackendReceipt spent)) {
            return CompletableFuture.completedStage(List.of());
        }
        LocalSettlement settlement = new LocalSettlement(table, time, actualCost);
        List<Charge> settled = settlement.settle(spent, selection);
        if (!settlement.isComplete()) {
            spent.settlementFailed(settled);
            return CompletableFuture.failedStage(new BackendException(BackendException.Reason.FULL, fullMessage, null));
        }
        return CompletableFuture.completedStage(settled);
    }

    @Override
    public boolean supports(Limit limit) {
        return true;
    }

    @Override
    public CompletionStage<Boolean> release(Receipt receipt) {
        return CompletableFuture.completedStage(
                !(receipt instanceof BackendReceipt spent) || new LocalSlots(table, time).release(spent));
    }

    @Override
    public CompletionStage<List<Receipt>> renew(List<Receipt> receipts) {
        return CompletableFuture.completedStage(new LocalSlots(table, time).renew(receipts));
    }

    @Override
    public CompletionStage<Void> refund(Charge charge) {
        refunds.refund(charge);
        return CompletableFuture.completedStage(null);
    }

    @Override
    public void reset(List<PolicyLimits> limits, String storedKey) {
        for (PolicyLimits each : limits) {
            Charge charge = new Charge(each, storedKey, 1);
            table.locked(List.of(charge), () -> {
                refunds.resetLocked(charge);
                blocks.forget(each, storedKey);
            });
        }
    }

    @Override
    public CompletionStage<Duration> block(PolicyLimits policy, String storedKey, Duration duration) {
        return staged(() -> blocks.block(policy, storedKey, duration));
    }

    @Override
    public CompletionStage<Optional<BlocksKeys.Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        return staged(() -> blocks.countRejections(policy, storedKey, rejections, rule));
    }

    @Override
    public CompletionStage<Void> unblock(PolicyLimits policy, String storedKey) {
        blocks.unblock(policy, storedKey);
        return CompletableFuture.completedStage(null);
    }
}
