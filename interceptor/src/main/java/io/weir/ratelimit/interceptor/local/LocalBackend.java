// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.local;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.interceptor.local.Shard.KeptState;
import io.weir.ratelimit.interceptor.local.Shard.StateKey;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The store in process. Keys are spread over shards with a lock each; a decision holds the locks of its keys' shards, taken in
 * ascending order, so that it is atomic over all of its limits and cannot deadlock.
 *
 * <p>The number of keys is bounded. A key whose state equals an untouched one is dropped when a new key needs its place; a
 * key that still counts never is, so no flood of new keys lets an exhausted one start afresh. When all keys count, a call with a
 * new key fails with {@link BackendException.Reason#FULL}.
 */
public final class LocalBackend implements RateLimitBackend {
    private final TimeSource time;
    private final Shards shards;

    /**
     * A store on the process's monotonic clock.
     *
     * @param maxKeys how many keys it holds at most, 1 or more
     */
    public LocalBackend(int maxKeys) {
        this(maxKeys, monotonic());
    }

    /**
     * A store on a clock of the caller's.
     *
     * @param maxKeys how many keys it holds at most, 1 or more
     * @param time the clock
     */
    public LocalBackend(int maxKeys, TimeSource time) {
        if (maxKeys < 1) {
            throw new IllegalArgumentException("maxKeys must be at least 1");
        }
        this.time = time;
        this.shards = new Shards(maxKeys);
    }

    private static TimeSource monotonic() {
        long origin = System.nanoTime();
        return () -> (System.nanoTime() - origin) / 1_000;
    }

    @Override
    public String name() {
        return "local";
    }

    @Override
    public boolean configured() {
        return true;
    }

    /**
     * How many keys the store holds, with untouched ones that no new key has displaced yet.
     *
     * @return at most the bound
     */
    public int size() {
        return shards.size();
    }

    @Override
    public Decision acquire(List<Charge> charges) {
        StateKey[] needed = keysOf(charges);
        Decision decision = tryAcquire(charges, needed);
        while (decision == null) {
            if (!shards.dropUntouched(time)) {
                return acquireWithoutShadows(charges);
            }
            decision = tryAcquire(charges, needed);
        }
        return decision;
    }

    /** Decides, or answers null if there is no place for a new key. */
    private @Nullable Decision tryAcquire(List<Charge> charges, StateKey[] needed) {
        long locked = shards.lock(needed);
        try {
            return new LockedDecision(shards, charges, needed, time.micros()).decide();
        } finally {
            shards.unlock(locked);
        }
    }

    /** A full store does without shadow charges before it fails: none of them refuses a call. */
    private Decision acquireWithoutShadows(List<Charge> charges) {
        List<Charge> enforced =
                charges.stream().filter(charge -> !charge.shadow()).toList();
        if (enforced.isEmpty() || enforced.size() == charges.size()) {
            throw new BackendException(
                    BackendException.Reason.FULL,
                    "each of the " + shards.maxKeys() + " keys in process still counts (ratelimit.local.max-keys)",
                    null);
        }
        return acquire(enforced);
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
        StateKey[] needed = keysOf(List.of(charge));
        long locked = shards.lock(needed);
        try {
            long now = time.micros();
            Quota[] quotas = new Quota[needed.length];
            for (int i = 0; i < needed.length; i++) {
                Limit limit = charge.policy().limits().get(i);
                KeptState entry = shards.find(needed[i]);
                LimitState state = entry == null ? LimitState.untouched(limit, now) : entry.state.at(limit, now);
                quotas[i] = charge.policy().quota(i, state, charge.cost(), charge.patienceMicros(), false, now);
            }
            return List.of(quotas);
        } finally {
            shards.unlock(locked);
        }
    }

    @Override
    public void giveBack(Receipt receipt) {
        if (receipt instanceof BackendReceipt spent) {
            long locked = shards.lock(keysOf(spent.charges()));
            try {
                // Used under the locks: whoever finds it used, or a part given back, finds all of it given back.
                for (BackendReceipt.Entry charged : spent.use()) {
                    Charge charge = charged.charge();
                    // On the state as it is kept: the receipt knows the limit of back then, and another may hold by
                    // now.
                    changeLocked(
                            charge,
                            keysOf(List.of(charge)),
                            (entry, limit, i, now) ->
                                    entry.state.giveBack(limit, charged.states().get(i), charge.cost(), now));
                }
            } finally {
                shards.unlock(locked);
            }
        }
    }

    @Override
    public void giveBack(Charge charge) {
        change(charge, (entry, limit, i, now) -> {
            entry.limit = limit;
            return entry.state.at(limit, now).giveBack(limit, charge.cost());
        });
    }

    @Override
    public void reset(PolicyLimits policy, String identity) {
        change(new Charge(policy, identity, 1), (entry, limit, i, now) -> LimitState.untouched(limit, now));
    }

    /** What becomes of a state as it is stored, given the limit of the charge. */
    private interface Change {
        LimitState apply(KeptState entry, Limit limit, int index, long nowMicros);
    }

    private void change(Charge charge, Change change) {
        StateKey[] needed = keysOf(List.of(charge));
        long locked = shards.lock(needed);
        try {
            changeLocked(charge, needed, change);
        } finally {
            shards.unlock(locked);
        }
    }

    /** Changes the states of a charge whose shards are locked. */
    private void changeLocked(Charge charge, StateKey[] needed, Change change) {
        long now = time.micros();
        List<Limit> limits = charge.policy().limits();
        for (int i = 0; i < limits.size(); i++) {
            KeptState entry = shards.find(needed[i]);
            if (entry == null) {
                continue;
            }
            LimitState before = entry.state;
            entry.state = change.apply(entry, limits.get(i), i, now);
            if (!entry.state.equals(before)) {
                shards.gaveBack(entry, now);
            }
        }
    }

    private static StateKey[] keysOf(List<Charge> charges) {
        int count = 0;
        for (Charge charge : charges) {
            count += charge.policy().limits().size();
        }
        StateKey[] keys = new StateKey[count];
        int i = 0;
        for (Charge charge : charges) {
            for (int limit = 0; limit < charge.policy().limits().size(); limit++) {
                keys[i] = new StateKey(charge.identity(), charge.policy().keyTail(limit));
                i++;
            }
        }
        return keys;
    }
}
