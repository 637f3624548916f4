// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.reactive.messaging.Incoming;
import org.eclipse.microprofile.reactive.messaging.Outgoing;

/** Consumers and a processor. */
@ApplicationScoped
public class Orders {
    @Inject
    Seen seen;

    @Incoming("value")
    @RateLimit("value")
    public void value(String order) {}

    @Incoming("stage")
    @RateLimit("stage")
    public CompletionStage<Void> stage(String order) {
        return CompletableFuture.completedFuture(null);
    }

    @Incoming("processor")
    @Outgoing("processed")
    @RateLimit("processor")
    public String process(String order) {
        return order;
    }

    @Incoming("processed")
    public void processed(String order) {
        seen.add("processed", order);
    }

    @Incoming("patient")
    @RateLimit("patient")
    public CompletionStage<Void> patient(String order) {
        return CompletableFuture.completedFuture(null);
    }
}
