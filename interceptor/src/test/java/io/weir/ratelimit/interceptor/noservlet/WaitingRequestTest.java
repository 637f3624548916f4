// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.noservlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.interceptor.cdi.RateLimitExtension;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A request that waits for permits on its thread while the application ends. */
class WaitingRequestTest {
    private static final Map<String, String> POLICIES = Map.of(
            "ratelimit.policies.paced.limit", "2/1h",
            "ratelimit.policies.paced.algorithm", "leaky-bucket",
            "ratelimit.policies.paced.key", "global",
            "ratelimit.policies.paced.max-wait", "1h");

    @BeforeAll
    static void requireNoServletApi() {
        assumeFalse(OptionalApi.SERVLET.isVisible(), "the execution no-servlet of Surefire runs this test");
    }

    @Path("paced")
    @RequestScoped
    public static class Paced {
        @GET
        @RateLimit("paced")
        public String paced() {
            return "paced";
        }
    }

    @Test
    void theEndOfTheApplicationEndsTheRequest() throws Exception {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        try (RestServer server = RestServer.start(POLICIES, task -> threads.add(started(task)), Paced.class)) {
            assertThat(server.get("/api/paced").status()).isEqualTo(200);
            CompletableFuture<Integer> waiting = new CompletableFuture<>();
            started(() -> waiting.complete(server.get("/api/paced").status()));
            Await.until(
                    "the request waits",
                    Duration.ofSeconds(5),
                    () -> threads.stream().anyMatch(thread -> LockSupport.getBlocker(thread) == Sleeper.REAL));
            server.bean(RateLimitExtension.class).application().weir().endWaits();
            assertThat(waiting.get(20, TimeUnit.SECONDS)).isEqualTo(503);
            Duration owed = server.bean(RateLimiter.class)
                    .peek("paced", Identity.GLOBAL)
                    .get(0)
                    .resetAfter();
            assertThat(owed).as("the wait is refunded").isLessThanOrEqualTo(Duration.ofMinutes(30));
        }
    }

    private static Thread started(Runnable task) {
        Thread thread = new Thread(task);
        thread.start();
        return thread;
    }
}
