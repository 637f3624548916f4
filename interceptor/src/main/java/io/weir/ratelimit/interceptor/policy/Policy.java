// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.policy;

import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.interceptor.key.KeyExpression;
import io.weir.ratelimit.spi.PolicyLimits;

/**
 * A named set of limits on one key.
 *
 * @param limits the name and the limits
 * @param key who shares them
 * @param cost permits a call spends unless something nearer says otherwise, 1 or more
 * @param onFailure what happens when the store does not answer
 * @param maxWaiting how many calls may wait at once, 1 or more
 */
public record Policy(PolicyLimits limits, KeyExpression key, long cost, FailureMode onFailure, int maxWaiting) {
    /** How many calls may wait at once unless the policy says otherwise. */
    public static final int MAX_WAITING = 16;

    /**
     * The policy's name.
     *
     * @return the name
     */
    public String name() {
        return limits.policy();
    }

    /**
     * The longest that a call waits instead of being refused.
     *
     * @return microseconds, 0 if calls do not wait
     */
    public long maxWaitMicros() {
        return limits.limits().get(0).maxWait().toMillis() * 1_000;
    }
}
