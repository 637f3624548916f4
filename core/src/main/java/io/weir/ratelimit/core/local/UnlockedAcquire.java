// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.TimeSource;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An acquire of one limit of a known key, without a lock and without the steps for several limits: most calls are such. */
final class UnlockedAcquire {
    /** How often a call tries to replace a state. */
    private static final int ATTEMPTS = 16;

    private final StateTable table;
    private final TimeSource time;

    UnlockedAcquire(StateTable table, TimeSource time) {
        this.table = table;
        this.time = time;
    }

    /**
     * Decides and spends. Returns null, and changes nothing, if there are several limits or a concurrency limit, if the key is new, if
     * another call has taken its state, if its limit has changed, if it is blocked, or if the clock has stepped back.
     */
    @Nullable
    Decision decide(List<Charge> charges) {
        if (!isPossible(charges)) {
            return null;
        }
        Charge charge = charges.get(0);
        StoredState stored = find(charge);
        return stored == null ? null : decide(charge, charge.policy().limits().get(0), stored);
    }

    /** Tests whether charges can be decided without a lock: one enforced charge of one limit without slots. */
    static boolean isPossible(List<Charge> charges) {
        if (charges.size() != 1 || charges.get(0).shadow()) {
            return false;
        }
        PolicyLimits policy = charges.get(0).policy();
        // The states of slots are copied for each call, which a lock costs less than attempts.
        return policy.limits().size() == 1 && !policy.hasConcurrency();
    }

    /** Returns an acquire that remembers the state of a possible charge. */
    Repeated repeated(Charge charge) {
        return new Repeated(this, charge);
    }

    /** Returns the stored state of a possible charge, null if its key is new. */
    @Nullable
    StoredState find(Charge charge) {
        return table.find(StateKey.of(charge, 0));
    }

    /** Decides and spends like {@link #decide(List)}, from the state that {@link #find} has returned now or before. */
    @Nullable
    Decision decide(Charge charge, Limit limit, StoredState stored) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            LimitState before = stored.get();
            if (before == null || !limit.equals(stored.limit)) {
                return null;
            }
            // The clock is read after the state, so the state is not later, unless the clock has stepped back.
            long now = time.micros();
            if (before.isAfter(now) || table.blocks().end(charge.policy().policy(), charge.storedKey(), now) > 0) {
                return null;
            }
            LimitState current = before.asOf(limit, now);
            long wait = current.retryAfterMicros(limit, charge.cost(), now);
            if (wait > LimitState.maxDelayMicros(limit, charge.maxWaitMicros())) {
                return new Decision.Rejected(List.of(new ChargeResult(
                        charge.policy().policy(), false, List.of(current.quota(charge, 0, false, now)))));
            }
            LimitState spent = current.spend(limit, charge.cost(), now);
            if (stored.compareAndSet(before, spent)) {
                return new Decision.Allowed(
                        new ChargedResults(charge, spent, now), new BackendReceipt(charge, spent), wait);
            }
        }
        return null;
    }

    /** An acquire of a charge that many calls repeat. It searches for the state of the key once. Thread-safe. */
    static final class Repeated {
        private final UnlockedAcquire withoutLock;
        private final Charge charge;
        private final Limit limit;

        /** The state that the last call has found. If it is removed later, it never has a value again, and a call searches once more. */
        private volatile @Nullable StoredState found;

        private Repeated(UnlockedAcquire withoutLock, Charge charge) {
            this.withoutLock = withoutLock;
            this.charge = charge;
            this.limit = charge.policy().limits().get(0);
        }

        /** Decides and spends like {@link UnlockedAcquire#decide(List)}. */
        @Nullable
        Decision decide() {
            StoredState known = found;
            StoredState stored = known == null ? withoutLock.find(charge) : known;
            Decision decision = stored == null ? null : withoutLock.decide(charge, limit, stored);
            StoredState next = decision == null ? null : stored;
            if (next != known) {
                found = next;
            }
            return decision;
        }
    }
}
