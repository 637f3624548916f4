// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.spi.CallContext;
import java.util.List;

/**
 * One of several calls that are decided as one.
 *
 * @param policies the policies, each with the cost of the call
 * @param properties the properties from which its keys and tiers are determined
 */
public record JointCall(List<Binding.PolicyCost> policies, CallContext properties) {
    /** Copies the list. */
    public JointCall {
        policies = List.copyOf(policies);
    }
}
