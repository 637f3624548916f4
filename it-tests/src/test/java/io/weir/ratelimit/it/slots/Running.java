// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.slots;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** The calls that run until the test ends them, by client. */
@ApplicationScoped
public class Running {
    private final Map<String, CompletableFuture<String>> calls = new ConcurrentHashMap<>();

    /** Starts a call; the future completes when the test ends it. */
    CompletableFuture<String> start(String client) {
        CompletableFuture<String> end = new CompletableFuture<>();
        calls.put(client, end);
        return end;
    }

    boolean isRunning(String client) {
        return calls.containsKey(client);
    }

    /** Ends the call of a client; returns false if there is none. */
    boolean end(String client, String how) {
        CompletableFuture<String> call = calls.remove(client);
        return call != null && call.complete(how);
    }
}
