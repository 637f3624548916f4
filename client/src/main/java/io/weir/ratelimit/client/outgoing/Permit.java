// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.request.Binding;

/**
 * The permission for one outgoing call, which the filter keeps until the response. An owned decision is one of the filter; otherwise
 * application code keeps its receipt.
 */
public record Permit(
        OutgoingClient client,
        Binding binding,
        Identity key,
        Decision decision,
        boolean owned,
        OutgoingCall.Attempt attempt) {}
