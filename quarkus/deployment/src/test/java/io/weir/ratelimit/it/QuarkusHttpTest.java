// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.it.http.AnswerResource;
import io.weir.ratelimit.it.http.CorsFilter;
import io.weir.ratelimit.it.http.CsvResponder;
import io.weir.ratelimit.it.http.HttpApplication;
import io.weir.ratelimit.it.http.SecretWork;
import io.weir.ratelimit.it.http.Teapot;
import io.weir.ratelimit.it.http.TeapotMapper;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.StreamingOutput;
import jakarta.ws.rs.sse.Sse;
import jakarta.ws.rs.sse.SseEventSink;
import java.io.File;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The HTTP contract of the servers on Quarkus, with their resources except the asynchronous ones, which use what a server has. */
class QuarkusHttpTest extends HttpContract {
    private static final File CONFIGURATION =
            new File("../../it-tests/src/test/resources/http/microprofile-config.properties");

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Http.class, HttpContract.class, LimitResponse.class)
                    .addClasses(HttpApplication.class, AnswerResource.class, Asynchronous.class, SecretWork.class)
                    .addClasses(CorsFilter.class, CsvResponder.class, Teapot.class, TeapotMapper.class)
                    .addAsResource(CONFIGURATION, "META-INF/microprofile-config.properties"));

    @TestHTTPResource
    URI base;

    @Override
    URI base() {
        return URI.create("http://127.0.0.1:" + base.getPort() + "/");
    }

    @Override
    @Disabled("Quarkus has no servlet response, which code of the application could commit")
    @Test
    void noFieldIsSetOnACommittedResponse() {}

    @Override
    @Disabled("Quarkus has no servlet response, which code of the application could commit")
    @Test
    void committedResponseIsChargedOnce() {}

    @Path("async")
    @RequestScoped
    public static class Asynchronous {
        @Inject
        RateLimiter limiter;

        @GET
        @Path("stage")
        @RateLimit("twice")
        public CompletionStage<String> stage() {
            return CompletableFuture.supplyAsync(() -> "stage");
        }

        @GET
        @Path("stage-rejected")
        public CompletionStage<String> stageRejected(@HeaderParam("X-Client") String client) {
            return limiter.acquireAsync("plain", Identity.header("X-Client", client))
                    .thenApply(decision -> {
                        decision.orThrow();
                        return "allowed";
                    });
        }

        @GET
        @Path("waits/{how}")
        public String waits(@PathParam("how") String how, @HeaderParam("X-Client") String client)
                throws ExecutionException, InterruptedException {
            CompletableFuture<String> allowed = CompletableFuture.supplyAsync(() -> {
                limiter.acquire("plain", Identity.header("X-Client", client)).orThrow();
                return "allowed";
            });
            return how.equals("join") ? allowed.join() : allowed.get();
        }

        @GET
        @Path("suspended")
        @RateLimit("twice")
        public void suspended(@Suspended AsyncResponse response) {
            new Thread(() -> response.resume("resumed"), "resumes").start();
        }

        @GET
        @Path("events")
        @Produces("text/event-stream")
        @RateLimit("twice")
        public void events(@Context SseEventSink sink, @Context Sse sse) {
            sink.send(sse.newEvent("one")).whenComplete((sent, failure) -> sink.close());
        }

        @GET
        @Path("streamed")
        @RateLimit("twice")
        public StreamingOutput streamed() {
            return output -> {
                for (int i = 0; i < 3; i++) {
                    output.write("bit ".getBytes(StandardCharsets.UTF_8));
                    output.flush();
                }
            };
        }
    }
}
