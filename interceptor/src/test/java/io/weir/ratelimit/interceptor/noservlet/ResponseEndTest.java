// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.noservlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.interceptor.OptionalApi;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.StreamingOutput;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The release of slots at the end of responses on a runtime without the Servlet API. This one has no asynchronous responses. */
class ResponseEndTest {
    private static final Map<String, String> POLICIES = Map.of(
            "ratelimit.policies.one.concurrency", "1",
            "ratelimit.policies.one.concurrency-timeout", "1h",
            "ratelimit.policies.one.key", "global");

    private static ExecutorService threads;
    private static RestServer server;

    @BeforeAll
    static void start() {
        assumeFalse(OptionalApi.SERVLET.isVisible(), "the execution no-servlet of Surefire runs this test");
        threads = Executors.newCachedThreadPool();
        server = RestServer.start(POLICIES, threads, Slow.class);
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
            threads.shutdownNow();
        }
    }

    @Path("slow")
    @RequestScoped
    public static class Slow {
        @Inject
        RateLimiter limiter;

        @GET
        @Path("now")
        @RateLimit("one")
        public String now() {
            return "now";
        }

        @GET
        @Path("nothing")
        @RateLimit("one")
        public void nothing() {}

        @GET
        @Path("mapped")
        @RateLimit("one")
        public String mapped() {
            throw new WebApplicationException(409);
        }

        @GET
        @Path("unmapped")
        @RateLimit("one")
        public String unmapped() {
            throw new IllegalStateException("failed");
        }

        /** Shows whether the stream still has its slot. */
        @GET
        @Path("stream")
        @RateLimit("one")
        public StreamingOutput stream() {
            return output -> {
                output.write("free: ".getBytes(StandardCharsets.UTF_8));
                output.flush();
                output.write(Long.toString(
                                limiter.peek("one", Identity.GLOBAL).get(0).remaining())
                        .getBytes(StandardCharsets.UTF_8));
            };
        }

        @GET
        @Path("broken-stream")
        @RateLimit("one")
        public StreamingOutput brokenStream() {
            return output -> {
                throw new IllegalStateException("failed");
            };
        }
    }

    @ParameterizedTest
    @CsvSource({
        "now, 200",
        "nothing, 204",
        "mapped, 409",
        "unmapped, 500",
        "stream, 200",
        "broken-stream, 500",
    })
    void nextCallIsAllowed(String path, int status) {
        for (int call = 0; call < 3; call++) {
            RestServer.Reply reply = server.get("/api/slow/" + path);
            assertThat(reply.status()).as("call %d", call).isEqualTo(status);
            if (path.equals("stream")) {
                assertThat(reply.body()).contains("free: 0");
            }
            assertThat(isFree()).as("after call %d", call).isTrue();
        }
    }

    /** The client can have its response before the thread of the server has closed it. */
    private static boolean isFree() {
        RateLimiter limiter = server.bean(RateLimiter.class);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (limiter.peek("one", Identity.GLOBAL).get(0).remaining() != 1) {
            if (System.nanoTime() > end) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        return true;
    }
}
