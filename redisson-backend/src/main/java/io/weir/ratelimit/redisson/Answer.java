// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.LimitState;
import java.util.List;

/**
 * What the store said to a check.
 *
 * @param states the state of each limit, after the charge if it was spent
 * @param room whether there was room for the charge
 * @param spent whether it was spent
 * @param waitMicros how long the call waits for what it has spent
 * @param nowMicros when, by the store's clock
 * @param sentNanos a monotonic instant before the question left
 * @param receivedNanos a monotonic instant after the answer was there
 */
record Answer(
        List<LimitState> states,
        boolean room,
        boolean spent,
        long waitMicros,
        long nowMicros,
        long sentNanos,
        long receivedNanos) {

    Decision decision(List<Charge> charges) {
        return spent
                ? new Decision.Allowed(quotas(charges), new BackendReceipt(charges, states), waitMicros)
                : new Decision.Rejected(quotas(charges));
    }

    List<Quota> quotas(List<Charge> charges) {
        Quota[] quotas = new Quota[states.size()];
        int i = 0;
        for (Charge charge : charges) {
            for (int limit = 0; limit < charge.policy().limits().size(); limit++) {
                quotas[i] = charge.policy()
                        .quota(limit, states.get(i), charge.cost(), charge.patienceMicros(), spent, nowMicros);
                i++;
            }
        }
        return List.of(quotas);
    }
}
