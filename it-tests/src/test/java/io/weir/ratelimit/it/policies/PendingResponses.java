// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.policies;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Pending responses by client. */
@ApplicationScoped
public class PendingResponses {
    private final Map<String, Runnable> responses = new ConcurrentHashMap<>();

    void add(String client, Runnable response) {
        responses.put(client, response);
    }

    /** Completes the pending response of a client; returns false if there is none. */
    boolean release(String client) {
        Runnable response = responses.remove(client);
        if (response != null) {
            response.run();
        }
        return response != null;
    }
}
