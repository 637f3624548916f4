// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.CallContext;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One call of a REST client before it is sent.
 *
 * @param host the host of the upstream, with its port if the URI has one
 * @param pathTemplate the template of the path, such as {@code /accounts/{id}}; empty if it is unknown
 * @param attempt identifies the call among its retries
 * @param retry whether the call is a retry, null if application code has not marked it
 * @param decision the decision that application code has already acquired, null if there is none
 */
public record OutgoingCall(
        String client,
        String host,
        Optional<String> pathTemplate,
        CallContext context,
        Attempt attempt,
        @Nullable Boolean retry,
        @Nullable Decision decision) {

    /**
     * The identity of a call: a retry has an equal one. It has hashes only, so that it keeps no request and no entity in memory. The caller
     * is the incoming request, or the thread without one.
     */
    public record Attempt(int caller, int request, int entity) {}
}
