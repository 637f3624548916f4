// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.core.policy.MethodLimits;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The configuration of one REST client: its key and one or more policies whose permits a call spends.
 *
 * @param obeysRetryAfter whether an error of the upstream pauses the client
 * @param obeysQuotas whether a quota that the upstream reports lowers the own one
 * @param retryPercent the share of retries among ordinary calls, from 0 to 100
 * @param maxPause the longest pause
 */
public record OutgoingClient(
        String name,
        List<String> policies,
        ClientKey key,
        boolean obeysRetryAfter,
        boolean obeysQuotas,
        int retryPercent,
        Duration maxPause) {
    /** Copies the list. */
    public OutgoingClient {
        policies = List.copyOf(policies);
    }

    /** Returns the client as an endpoint, which the policies limit like a method. */
    public MethodLimits limits() {
        return new MethodLimits(MethodLimits.Name.of(MethodLimits.CLIENT + name), policies, 0, Optional.empty());
    }
}
