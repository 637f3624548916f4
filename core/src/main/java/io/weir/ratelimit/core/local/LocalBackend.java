// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.BlockedState;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.ChargedQuotas;
import io.weir.ratelimit.core.limit.InstantSource;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.Penalty;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
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
public final class LocalBackend implements RateLimitBackend, InstantSource {

    private final TimeSource time;

    /** The clock of the process; null if the clock is another one. */
    private final @Nullable LocalClock processClock;

    private final StateTable table;
    private final UnlockedAcquire withoutLock;
    private final Penalties penalties;

    /** The message of each call that finds no place. A flood of new keys must not create it each time. */
    private final String fullMessage;

    private final String tooManyBlocks;

    /**
     * Creates a backend with the clock of the process.
     *
     * @param maxKeys the maximum number of keys, 1 or more
     */
    public LocalBackend(int maxKeys) {
        this(maxKeys, LocalClock.ofProcess());
    }

    /**
     * Creates a backend with a clock.
     *
     * @param maxKeys the maximum number of keys, 1 or more
     * @param time the clock
     */
    public LocalBackend(int maxKeys, TimeSource time) {
        if (maxKeys < 1) {
            throw new IllegalArgumentException("maxKeys must be at least 1");
        }
        this.time = time;
        this.processClock = time instanceof LocalClock clock ? clock : null;
        this.table = new StateTable(maxKeys);
        this.penalties = new Penalties(maxKeys);
        this.withoutLock = new UnlockedAcquire(table, time);
        this.fullMessage = "the local backend is full: it can drop none of its " + maxKeys
                + " keys (ratelimit.local.max-keys); under on-failure=open, new keys are counted approximately";
        this.tooManyBlocks =
                "the local backend cannot block more than " + maxKeys + " keys at once (ratelimit.local.max-keys)";
    }

    @Override
    public String name() {
        return "local";
    }

    @Override
    public boolean isConfigured() {
        return true;
    }

    /**
     * Returns the number of keys, including untouched keys that the backend has not dropped yet.
     *
     * @return 0 to the maximum number of keys
     */
    public int size() {
        return table.size();
    }

    @Override
    public long atNanos(ChargedQuotas quotas) {
        return processClock == null ? System.nanoTime() : processClock.nanos(quotas.nowMicros());
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        Decision decision = withoutLock.decide(charges);
        return decision == null ? acquireAll(charges) : decision;
    }

    private Decision acquireAll(List<Charge> charges) {
        PendingCharge[] pending = new PendingCharge[charges.size()];
        long shards = 0;
        for (int i = 0; i < pending.length; i++) {
            pending[i] = new PendingCharge(charges.get(i));
            shards |= pending[i].shards();
        }
        Decision decision = tryAcquire(pending, shards);
        while (decision == null) {
            if (!table.removeUntouched(time)) {
                return acquireWithoutShadows(charges);
            }
            decision = tryAcquire(pending, shards);
        }
        return decision;
    }

    /** Decides, or returns null if there is no place for a new key. */
    private @Nullable Decision tryAcquire(PendingCharge[] charges, long shards) {
        lock(charges, shards);
        try {
            return new LockedAcquire(table, charges, time.micros()).decide();
        } finally {
            unlock(charges, shards);
        }
    }

    /** Locks the shards of charges, and then takes the stored states. */
    private void lock(PendingCharge[] charges, long shards) {
        table.lock(shards);
        for (PendingCharge charge : charges) {
            charge.take(table);
        }
    }

    private void unlock(PendingCharge[] charges, long shards) {
        for (PendingCharge charge : charges) {
            charge.release();
        }
        table.unlock(shards);
    }

    @Override
    public Optional<Decision> acquireApproximately(List<Charge> charges) {
        List<Charge> enforced = enforced(charges);
        if (enforced.isEmpty()) {
            return Optional.empty();
        }
        PendingCharge[] pending = new PendingCharge[enforced.size()];
        long shards = 0;
        for (int i = 0; i < pending.length; i++) {
            pending[i] = new PendingCharge(enforced.get(i));
            shards |= pending[i].shards();
        }
        lock(pending, shards);
        try {
            return Optional.ofNullable(decideApproximately(pending));
        } finally {
            unlock(pending, shards);
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
        return acquireAll(enforced);
    }

    private static List<Charge> enforced(List<Charge> charges) {
        for (Charge charge : charges) {
            if (charge.shadow()) {
                return charges.stream().filter(each -> !each.shadow()).toList();
            }
        }
        return charges;
    }

    @Override
    public CompletionStage<Decision> acquireAsync(List<Charge> charges) {
        try {
            return CompletableFuture.completedStage(acquire(charges));
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        }
    }

    @Override
    public List<Quota> peek(Charge charge) {
        PendingCharge[] pending = {new PendingCharge(charge)};
        long shards = pending[0].shards();
        lock(pending, shards);
        try {
            long now = time.micros();
            pending[0].read(table, now);
            return pending[0].result().quotas(false, now);
        } finally {
            unlock(pending, shards);
        }
    }

    @Override
    public void refund(Receipt receipt) {
        if (receipt instanceof BackendReceipt spent) {
            long shards = 0;
            for (Charge charge : spent.charges()) {
                shards |= new PendingCharge(charge).shards();
            }
            table.lock(shards);
            try {
                // Claims under the locks: a second refund of the receipt returns only after the first has refunded
                // everything.
                int removed = 0;
                for (ChargeStates charged : spent.claim()) {
                    removed += refundLocked(charged);
                }
                table.release(removed);
            } finally {
                table.unlock(shards);
            }
        }
    }

    /** Refunds from the stored states. Their limit can differ from the limit that was charged. */
    private int refundLocked(ChargeStates charged) {
        Charge charge = charged.charge();
        return changeLocked(
                charge,
                (stored, state, limit, i, now) ->
                        state.refund(limit, charged.states().get(i), charge.cost(), now));
    }

    @Override
    public List<Charge> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
        if (!(receipt instanceof BackendReceipt spent)) {
            return List.of();
        }
        LocalSettlement settlement = new LocalSettlement(table, time, actualCost);
        List<Charge> settled = settlement.settle(spent, selection);
        if (!settlement.isComplete()) {
            spent.settlementFailed(settled);
            throw new BackendException(BackendException.Reason.FULL, fullMessage, null);
        }
        return settled;
    }

    @Override
    public void refund(Charge charge) {
        change(charge, (stored, state, limit, i, now) -> {
            stored.limit = limit;
            return state.asOf(limit, now).refund(limit, charge.cost());
        });
    }

    @Override
    public void reset(PolicyLimits policy, String storedKey) {
        Charge charge = new Charge(policy, storedKey, 1);
        long shards = new PendingCharge(charge).shards();
        table.lock(shards);
        try {
            table.release(changeLocked(charge, (stored, state, limit, i, now) -> LimitState.untouched(limit, now)));
            release(policy, storedKey);
        } finally {
            table.unlock(shards);
        }
    }

    /** Ends the block of a key and forgets its penalties. */
    private void release(PolicyLimits policy, String storedKey) {
        table.blocks().unblock(policy.policy(), storedKey);
        penalties.forget(policy.policy(), storedKey);
    }

    @Override
    public Duration block(PolicyLimits policy, String storedKey, Duration duration) {
        long length = BlockedState.micros(duration);
        Charge charge = new Charge(policy, storedKey, 1);
        long shards = new PendingCharge(charge).shards();
        table.lock(shards);
        try {
            long now = time.micros();
            return Duration.of(blockLocked(charge, now + length, now) - now, ChronoUnit.MICROS);
        } finally {
            table.unlock(shards);
        }
    }

    /** Blocks a key whose shards are locked, and returns the end of the block. */
    private long blockLocked(Charge charge, long endMicros, long nowMicros) {
        PolicyLimits policy = charge.policy();
        long end = table.blocks().block(policy.policy(), charge.storedKey(), endMicros, nowMicros);
        if (end == 0) {
            throw new BackendException(BackendException.Reason.FULL, tooManyBlocks, null);
        }
        for (int i = 0; i < policy.limits().size(); i++) {
            table.renew(StateKey.of(charge, i));
        }
        return end;
    }

    @Override
    public CompletionStage<Optional<Penalty>> countRejections(
            PolicyLimits policy, String storedKey, long rejections, PenaltyRule rule) {
        Charge charge = new Charge(policy, storedKey, 1);
        long shards = new PendingCharge(charge).shards();
        table.lock(shards);
        try {
            long now = time.micros();
            int number = table.blocks().end(policy.policy(), storedKey, now) > 0
                    ? 0
                    : penalties.count(policy.policy(), storedKey, rejections, rule, now);
            if (number == 0) {
                return CompletableFuture.completedStage(Optional.empty());
            }
            long end = blockLocked(charge, now + BlockedState.micros(rule, number - 1), now);
            return CompletableFuture.completedStage(
                    Optional.of(new Penalty(Duration.of(end - now, ChronoUnit.MICROS), number)));
        } catch (BackendException e) {
            return CompletableFuture.failedStage(e);
        } finally {
            table.unlock(shards);
        }
    }

    @Override
    public void unblock(PolicyLimits policy, String storedKey) {
        long shards = new PendingCharge(new Charge(policy, storedKey, 1)).shards();
        table.lock(shards);
        try {
            release(policy, storedKey);
        } finally {
            table.unlock(shards);
        }
    }

    /** A function from a stored state to its new state. */
    private interface StateChange {
        LimitState apply(StoredState stored, LimitState state, Limit limit, int index, long nowMicros);
    }

    private void change(Charge charge, StateChange change) {
        long shards = new PendingCharge(charge).shards();
        table.lock(shards);
        try {
            table.release(changeLocked(charge, change));
        } finally {
            table.unlock(shards);
        }
    }

    /** Changes the stored states of a charge whose shards are locked. Returns the number of removed states. */
    private int changeLocked(Charge charge, StateChange change) {
        int removed = 0;
        List<Limit> limits = charge.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            StoredState stored = table.find(StateKey.of(charge, i));
            if (stored == null) {
                continue;
            }
            LimitState before = stored.take();
            LimitState after = before;
            long now = time.micros();
            try {
                after = change.apply(stored, before, limits.get(i), i, now);
            } finally {
                stored.put(after);
            }
            if (!after.equals(before) && table.refunded(stored, now)) {
                removed++;
            }
        }
        return removed;
    }
}
