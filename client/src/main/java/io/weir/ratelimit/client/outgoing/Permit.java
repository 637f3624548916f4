// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.core.request.Binding;

/**
 * The permission for one outgoing call, which the filter keeps until the response.
 *
 * @param client the client
 * @param binding the policies of the call
 * @param key the key under each policy
 * @param decision the decision that allows the call
 * @param owned whether the filter has taken the decision; otherwise application code keeps its receipt
 * @param attempt identifies the call among its retries
 */
public record Permit(
        OutgoingClient client,
        Binding binding,
        Identity key,
        Decision decision,
        boolean owned,
        OutgoingCall.Attempt attempt) {}
