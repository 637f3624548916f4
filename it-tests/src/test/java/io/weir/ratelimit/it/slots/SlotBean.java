// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.slots;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A bean whose calls take a slot. */
@ApplicationScoped
public class SlotBean {
    @RateLimit("one")
    public String call() {
        return "called";
    }

    @RateLimit("one")
    public CompletionStage<String> stage() {
        return CompletableFuture.completedFuture("called");
    }

    /** Takes a slot of a client, outside of a request. */
    @RateLimit("by-argument")
    public String work(@RateLimitKey("client") String client, CompletableFuture<String> end) {
        return end.join();
    }

    @RateLimit("by-argument")
    public CompletionStage<String> workLater(@RateLimitKey("client") String client, CompletableFuture<String> end) {
        return end;
    }
}
