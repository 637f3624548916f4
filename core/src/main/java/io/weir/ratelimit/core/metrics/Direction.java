// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import io.weir.ratelimit.core.policy.MethodLimits;

/** The direction of a call, as metrics and spans show it. */
final class Direction {
    private Direction() {}

    /** Returns the direction of the calls of an endpoint. */
    public static String of(String endpoint) {
        return endpoint.startsWith(MethodLimits.CLIENT) ? "outgoing" : "incoming";
    }
}
