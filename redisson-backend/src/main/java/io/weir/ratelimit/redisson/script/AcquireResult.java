// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import io.weir.ratelimit.ChargeResult;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.ChargedResults;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.spi.Charge;
import java.util.List;

/**
 * Result of an {@link AcquireRequest}: its charges with the states of their limits, after the charge if it was spent. The wait is the delay
 * in microseconds until the spent permits are available.
 */
public record AcquireResult(
        List<ChargeStates> charges, boolean hasRoom, boolean spent, long waitMicros, RedisTime time) {

    /** Returns the decision. The quota of a single limit is calculated when it is read, on the thread of the caller. */
    public Decision decision() {
        if (spent && charges.size() == 1 && charges.get(0).states().size() == 1) {
            Charge charge = charges.get(0).charge();
            LimitState state = charges.get(0).states().get(0);
            return new Decision.Allowed(
                    new ChargedResults(charge, state, time.micros()), new BackendReceipt(charge, state), waitMicros);
        }
        return spent
                ? new Decision.Allowed(results(), new BackendReceipt(charges), waitMicros)
                : new Decision.Rejected(results());
    }

    /** Returns one result per charge. */
    public List<ChargeResult> results() {
        return ChargeStates.results(charges, spent, time.micros());
    }

    /** Returns one quota per limit, in the order of the charges and their limits. */
    public List<Quota> quotas() {
        return results().stream().flatMap(result -> result.quotas().stream()).toList();
    }
}
