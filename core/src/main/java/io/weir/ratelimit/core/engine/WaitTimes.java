// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.policy.Overrides.Subject;
import io.weir.ratelimit.core.request.TimedDecision;
import io.weir.ratelimit.core.slots.SlotQueues;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.ConcurrencyLimit;
import io.weir.ratelimit.spi.Limit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The waits that decisions ask of their calls. */
final class WaitTimes {
    /** The time after which the first call that waits for a slot looks for one that another instance has released. */
    private static final long SLOT_INTERVAL_MICROS = 50_000;

    private WaitTimes() {}

    /** Returns how long a call has to wait before it proceeds or calls the backend again, 0 if the decision is final. */
    static long micros(TimedDecision timed) {
        if (timed.decision() instanceof Decision.Allowed allowed) {
            return allowed.waitMicros();
        }
        return timed.decision() instanceof Decision.Rejected rejected
                ? untilRoom(timed.charges(), rejected.results())
                : 0;
    }

    /**
     * Returns the longest wait of the limits that rejected the call, 0 if a wait exceeds the max-wait of its charge. A bucket
     * rejects a call only if its slot is later than the max-wait, so a wait does not help, unless the key is blocked.
     */
    private static long untilRoom(List<Charge> charges, List<ChargeResult> results) {
        long longest = 0;
        for (int c = 0; c < results.size(); c++) {
            long maxWait = charges.get(c).maxWaitMicros();
            List<Limit> limits = charges.get(c).policy().limits();
            List<Quota> quotas = results.get(c).quotas();
            for (int i = 0; i < quotas.size(); i++) {
                Limit limit = limits.get(i);
                Quota quota = quotas.get(i);
                if (quota.rejected() && limit instanceof ConcurrencyLimit) {
                    long blocked = Micros.blockedFor(quota);
                    if (maxWait == 0 || limit.permits() == 0 || blocked > maxWait) {
                        return 0;
                    }
                    longest = Math.max(longest, blocked > 0 ? blocked : Math.min(maxWait, SLOT_INTERVAL_MICROS));
                } else if (quota.rejected()) {
                    // A bucket lets no call of a blocked key spend ahead.
                    long delay = quota.blocked() ? 0 : LimitState.maxDelayMicros(limit, maxWait);
                    long retryAfter = Micros.retryAfter(quota);
                    if (retryAfter > maxWait - delay) {
                        return 0;
                    }
                    longest = Math.max(longest, retryAfter);
                }
            }
        }
        return longest;
    }

    /** Returns the key whose concurrency limit rejected the call: that of its place, else the first one; null if there is none. */
    static @Nullable Subject lackingSlot(TimedDecision timed, SlotQueues.@Nullable Place place) {
        Subject first = null;
        List<ChargeResult> results = timed.decision().results();
        for (int i = 0; i < results.size(); i++) {
            Charge charge = timed.charges().get(i);
            int index = charge.policy().concurrencyIndex();
            if (!charge.shadow() && index >= 0) {
                Quota quota = results.get(i).quotas().get(index);
                if (quota.rejected() && !quota.blocked()) {
                    Subject key = Subject.of(charge);
                    if (place != null && place.isFor(key)) {
                        return key;
                    }
                    first = first == null ? key : first;
                }
            }
        }
        return first;
    }
}
