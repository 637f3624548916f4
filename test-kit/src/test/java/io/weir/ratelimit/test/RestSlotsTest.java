// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Application;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The slots of calls of a REST runtime, which are free when the call returns. Surefire runs this test with Jersey and RESTEasy. */
@WeirTest(
        properties = {
            "ratelimit.policies.one.concurrency=1",
            "ratelimit.policies.one.concurrency-timeout=1h",
            "ratelimit.policies.one.key=global"
        },
        beans = {RestSlotsTest.Shop.class, RestSlotsTest.Report.class, RestSlotsTest.Numbers.class})
class RestSlotsTest {
    private RestRuntime rest;
    private RateLimits limits;

    @ApplicationPath("api")
    public static class Shop extends Application {}

    @ApplicationScoped
    public static class Numbers {
        @RateLimit("one")
        public String next() {
            return "1";
        }
    }

    @Path("report")
    @RequestScoped
    public static class Report {
        @Inject
        RateLimits limits;

        @Inject
        Numbers numbers;

        @GET
        @Path("text")
        @RateLimit("one")
        public String text() {
            return "free: " + limits.remaining("one", Identity.GLOBAL);
        }

        @GET
        @Path("nothing")
        @RateLimit("one")
        public void nothing() {}

        @GET
        @Path("error")
        @RateLimit("one")
        public String error() {
            throw new WebApplicationException(409);
        }

        @GET
        @Path("error-text")
        @RateLimit("one")
        public String errorText() {
            throw new WebApplicationException(
                    Response.status(409).entity("conflict").build());
        }

        @GET
        @Path("unmapped")
        @RateLimit("one")
        public String unmapped() {
            throw new IllegalStateException("no mapper");
        }

        @GET
        @Path("stream")
        @RateLimit("one")
        public StreamingOutput stream() {
            return output -> output.write(text().getBytes(StandardCharsets.UTF_8));
        }

        @GET
        @Path("broken-stream")
        @RateLimit("one")
        public StreamingOutput brokenStream() {
            return output -> {
                throw new IllegalStateException("broken");
            };
        }

        @GET
        @Path("unwritable")
        @Produces("application/x-unknown")
        @RateLimit("one")
        public Object unwritable() {
            return new AtomicLong();
        }

        @GET
        @Path("stage")
        @RateLimit("one")
        public CompletionStage<String> stage() {
            return CompletableFuture.supplyAsync(() -> "later");
        }

        @GET
        @Path("failed-stage")
        @RateLimit("one")
        public CompletionStage<String> failedStage() {
            return CompletableFuture.failedFuture(new WebApplicationException(409));
        }

        @GET
        @Path("suspended")
        @RateLimit("one")
        public void suspended(@Suspended AsyncResponse response) {
            new Thread(() -> response.resume("later")).start();
        }

        @GET
        @Path("bean")
        public String bean() {
            return numbers.next();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "text, 200",
        "nothing, 204",
        "error, 409",
        "error-text, 409",
        "unmapped, 500",
        "stream, 200",
        "broken-stream, 500",
        "unwritable, 500",
        "stage, 200",
        "failed-stage, 409",
        "suspended, 200",
        "bean, 200"
    })
    @Tag("field")
    void theSlotIsFreeWhenTheCallReturns(String path, int status) {
        for (int call = 0; call < 3; call++) {
            assertThat(rest.get("/api/report/" + path).statusCode())
                    .as("call %d", call)
                    .isEqualTo(status);
            assertThat(limits.remaining("one", Identity.GLOBAL)).isOne();
        }
    }

    @ParameterizedTest
    @CsvSource({"text, 200", "nothing, 204", "error-text, 409", "stream, 200", "stage, 200", "suspended, 200"})
    @Tag("field")
    void theSlotOfACallWithoutABodyIsFree(String path, int status) {
        HttpRequest head = HttpRequest.newBuilder(rest.uri("/api/report/" + path))
                .method("HEAD", HttpRequest.BodyPublishers.noBody())
                .build();
        for (int call = 0; call < 3; call++) {
            assertThat(rest.send(head).statusCode()).as("call %d", call).isEqualTo(status);
            assertThat(limits.remaining("one", Identity.GLOBAL)).isOne();
        }
    }

    @Test
    void theSlotIsTakenDuringTheCall() {
        assertThat(rest.get("/api/report/text").body()).isEqualTo("free: 0");
        assertThat(rest.get("/api/report/stream").body()).isEqualTo("free: 0");
    }

    @Test
    void aRejectedCallTakesNoSlot() {
        limits.exhaust("one", Identity.GLOBAL);
        assertThat(rest.get("/api/report/text").statusCode()).isEqualTo(429);
        limits.reset();
        assertThat(rest.get("/api/report/text").statusCode()).isEqualTo(200);
    }
}
