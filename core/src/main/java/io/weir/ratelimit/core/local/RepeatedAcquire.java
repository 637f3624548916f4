// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import org.jspecify.annotations.Nullable;

/** An {@link UnlockedAcquire} of a charge that many calls repeat. It searches for the state of the key once. Thread-safe. */
final class RepeatedAcquire {
    private final UnlockedAcquire withoutLock;
    private final Charge charge;
    private final Limit limit;

    /** The state that the last call has found. If it is removed later, it never has a value again, and a call searches once more. */
    private volatile @Nullable StoredState found;

    RepeatedAcquire(UnlockedAcquire withoutLock, Charge charge) {
        this.withoutLock = withoutLock;
        this.charge = charge;
        this.limit = charge.policy().limits().get(0);
    }

    /** Decides and spends like {@link UnlockedAcquire#decide}. */
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
