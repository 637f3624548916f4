// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it.entries;

import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.reactive.messaging.Channel;
import org.eclipse.microprofile.reactive.messaging.Emitter;
import org.eclipse.microprofile.reactive.messaging.Message;

/** A broker in memory. It delivers a message again that its consumer has not acknowledged. */
@ApplicationScoped
@Path("messages/{channel}")
public class Broker {
    @Inject
    @Channel("value")
    Emitter<String> value;

    @Inject
    @Channel("stage")
    Emitter<String> stage;

    @Inject
    @Channel("processor")
    Emitter<String> processor;

    @Inject
    @Channel("patient")
    Emitter<String> patient;

    @Inject
    Seen seen;

    @POST
    public void send(@PathParam("channel") String channel, String text) {
        Map<String, Emitter<String>> emitters =
                Map.of("value", value, "stage", stage, "processor", processor, "patient", patient);
        emitters.get(channel)
                .send(Message.of(
                        text,
                        () -> {
                            seen.add(channel, text);
                            return CompletableFuture.completedFuture(null);
                        },
                        failure -> again(channel, text)));
    }

    private CompletionStage<Void> again(String channel, String text) {
        CompletableFuture.delayedExecutor(100, TimeUnit.MILLISECONDS).execute(() -> send(channel, text));
        return CompletableFuture.completedFuture(null);
    }
}
