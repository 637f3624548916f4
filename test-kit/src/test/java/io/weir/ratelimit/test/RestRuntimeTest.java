// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Application;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.SecurityContext;
import jakarta.ws.rs.ext.ExceptionMapper;
import jakarta.ws.rs.ext.Provider;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** The REST runtime in the JVM. Surefire runs this test with Jersey, and again with RESTEasy. */
@WeirTest(
        properties = {
            "ratelimit.policies.shop.limit=5/1h",
            "ratelimit.policies.shop.algorithm=fixed-window",
            "ratelimit.policies.stock.limit=1/1h",
            "ratelimit.policies.later.limit=1/1h",
            "ratelimit.policies.slow.limit=1/1m",
            "ratelimit.policies.slow.algorithm=leaky-bucket",
            "ratelimit.policies.slow.max-wait=5m",
            "ratelimit.policies.closed.limit=9/1m",
            "ratelimit.policies.closed.on-failure=closed",
            "ratelimit.policies.zone.limit=1/1h",
            "ratelimit.policies.zone.paths=/api/shop/mapped"
        },
        beans = {
            RestRuntimeTest.ShopApplication.class,
            RestRuntimeTest.Shop.class,
            RestRuntimeTest.Stock.class,
            RestRuntimeTest.BrokenMapper.class
        })
class RestRuntimeTest {
    private RestRuntime rest;

    @ApplicationPath("api")
    public static class ShopApplication extends Application {}

    @Path("shop")
    @RequestScoped
    @Produces(MediaType.TEXT_PLAIN)
    public static class Shop {
        @Inject
        Stock stock;

        @Context
        SecurityContext security;

        @GET
        @RateLimit("shop")
        public String browse(@QueryParam("for") String goods, @HeaderParam("Plan") String plan) {
            return goods + " " + plan;
        }

        @GET
        @Path("stock")
        public String stock() {
            return stock.count();
        }

        @GET
        @Path("later")
        @RateLimit("later")
        public CompletionStage<String> later() {
            return CompletableFuture.supplyAsync(() -> "later");
        }

        @GET
        @Path("slow")
        @RateLimit("slow")
        public String slow() {
            return "slow";
        }

        @GET
        @Path("closed")
        @RateLimit("closed")
        public String closed() {
            return "open";
        }

        @POST
        public String buy(String order) {
            return security.getUserPrincipal().getName() + " buys " + order + ", as a clerk: "
                    + security.isUserInRole("clerk");
        }

        @GET
        @Path("mapped")
        public String mapped() {
            throw new IllegalArgumentException("mapped");
        }

        @GET
        @Path("broken")
        public String broken() {
            throw new IllegalStateException("no mapper");
        }
    }

    @ApplicationScoped
    public static class Stock {
        @RateLimit("stock")
        public String count() {
            return "7";
        }
    }

    @Provider
    public static class BrokenMapper implements ExceptionMapper<IllegalArgumentException> {
        @Override
        public Response toResponse(IllegalArgumentException exception) {
            return Response.status(418).entity(exception.getMessage()).build();
        }
    }

    @Test
    void theSixthCallIsRejectedUntilTheWindowEnds(RateLimitClock clock) {
        for (int left = 4; left >= 0; left--) {
            HttpResponse<String> allowed = rest.get("/api/shop?for=tea");
            assertThat(allowed.statusCode()).isEqualTo(200);
            assertThat(allowed.body()).startsWith("tea");
            assertThat(allowed.headers().firstValue("RateLimit"))
                    .hasValueSatisfying(value -> assertThat(value).startsWith("\"shop\";r="));
            assertThat(allowed.headers().firstValue("X-RateLimit-Remaining")).contains(Integer.toString(left));
        }
        HttpResponse<String> rejected = rest.get("/api/shop");
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(rejected.headers().firstValue("Retry-After")).contains("3600");
        assertThat(rejected.headers().firstValue("X-RateLimit-Reset"))
                .contains(Long.toString(clock.now().getEpochSecond() + 3_600));
        assertThat(rejected.headers().firstValue("content-type")).contains("application/problem+json");
        assertThat(rejected.body()).contains("#quota-exceeded\"", "\"violated-policies\":[\"shop\"]");
        assertThat(rejected).hasToString(rejected.toString()).asString().contains("GET http://localhost/api/shop 429");
        clock.advance(Duration.ofHours(1).minusMillis(1));
        assertThat(rest.get("/api/shop").statusCode()).isEqualTo(429);
        clock.advance(Duration.ofMillis(1));
        assertThat(rest.get("/api/shop").statusCode()).isEqualTo(200);
    }

    @Test
    void aCallThatWaitsMovesTheClock(RateLimitClock clock) {
        Instant start = clock.now();
        assertThat(rest.get("/api/shop/slow").statusCode()).isEqualTo(200);
        assertThat(rest.get("/api/shop/slow").statusCode()).isEqualTo(200);
        assertThat(clock.now()).isEqualTo(start.plusSeconds(60));
    }

    @Test
    void anOutageHasTheStatus503(RateLimits limits) {
        limits.failBackend();
        HttpResponse<String> unavailable = rest.get("/api/shop/closed");
        assertThat(unavailable.statusCode()).isEqualTo(503);
        assertThat(unavailable.headers().firstValue("Retry-After")).isPresent();
        limits.recoverBackend();
        assertThat(rest.get("/api/shop/closed").body()).isEqualTo("open");
    }

    @Test
    void aKeyOfAnotherWayIsThatOfRequests(RateLimits limits) {
        limits.exhaust("shop", Identity.address("127.0.0.1"));
        assertThat(rest.get("/api/shop").statusCode()).isEqualTo(429);
        limits.reset("shop", Identity.address("127.0.0.1"));
        assertThat(rest.get("/api/shop").statusCode()).isEqualTo(200);
    }

    private HttpResponse<String> command(String command) {
        return rest.send(HttpRequest.newBuilder(rest.uri("/api/any"))
                .header(TestKitFilter.COMMAND, command)
                .build());
    }

    @Test
    void aHeaderFieldMovesTheClockAndResetsLimits(RateLimitClock clock) {
        Instant start = clock.now();
        assertThat(command("advance PT30M").headers().firstValue(TestKitFilter.TIME))
                .contains(start.plusSeconds(1_800).toString());
        for (int call = 0; call < 6; call++) {
            rest.get("/api/shop");
        }
        assertThat(rest.get("/api/shop").statusCode()).isEqualTo(429);
        assertThat(command("reset").statusCode()).isEqualTo(204);
        assertThat(rest.get("/api/shop").statusCode()).isEqualTo(200);
        assertThat(command("fail-backend").statusCode()).isEqualTo(204);
        assertThat(rest.get("/api/shop/closed").statusCode()).isEqualTo(503);
        assertThat(command("reset-all").statusCode()).isEqualTo(204);
        assertThat(rest.get("/api/shop/closed").statusCode()).isEqualTo(200);
        assertThat(clock.now()).isEqualTo(start);
    }

    @Test
    void aWrongCommandIsABadRequest() {
        assertThat(command("advance").statusCode()).isEqualTo(400);
        assertThat(command("advance -PT1M").statusCode()).isEqualTo(400);
        assertThat(command("advance soon").statusCode()).isEqualTo(400);
        assertThat(command("delete").body()).isEqualTo("unknown command delete");
    }

    @Test
    void usersAndPeersHaveKeysOfTheirOwn() {
        for (int call = 0; call < 5; call++) {
            assertThat(rest.as("ann").get("/api/shop").statusCode()).isEqualTo(200);
            assertThat(rest.from("203.0.113.9").get("/api/shop").statusCode()).isEqualTo(200);
        }
        assertThat(rest.as("ann").get("/api/shop").statusCode()).isEqualTo(429);
        assertThat(rest.as("ann").from("198.51.100.1").get("/api/shop").statusCode())
                .isEqualTo(429);
        assertThat(rest.from("203.0.113.9").get("/api/shop").statusCode()).isEqualTo(429);
        assertThat(rest.as("bob").get("/api/shop").statusCode()).isEqualTo(200);
        assertThat(rest.get("/api/shop").statusCode()).isEqualTo(200);
    }

    @Test
    void aBeanThatRejectsACallIsMapped() {
        assertThat(rest.get("/api/shop/stock").body()).isEqualTo("7");
        HttpResponse<String> rejected = rest.get("/api/shop/stock");
        assertThat(rejected.statusCode()).isEqualTo(429);
        assertThat(rejected.body()).contains("\"violated-policies\":[\"stock\"]");
        assertThat(rejected.headers().firstValue("RateLimit")).isPresent();
    }

    @Test
    void aLimitOnAPathIsThatBelowTheContextRoot() {
        assertThat(rest.get("/api/shop/mapped").statusCode()).isEqualTo(418);
        assertThat(rest.get("/api/shop/mapped").statusCode()).isEqualTo(429);
    }

    @Test
    void anAsynchronousResourceCompletes() {
        assertThat(rest.get("/api/shop/later").body()).isEqualTo("later");
        assertThat(rest.get("/api/shop/later").statusCode()).isEqualTo(429);
    }

    @Test
    void sendsFieldsBodyAndUser() {
        HttpRequest browse = HttpRequest.newBuilder(rest.uri("/api/shop?for=tea"))
                .header("Plan", "gold")
                .build();
        assertThat(rest.send(browse).body()).isEqualTo("tea gold");
        HttpRequest order = HttpRequest.newBuilder(rest.uri("/api/shop"))
                .header("Content-Type", "text/plain; charset=UTF-8")
                .POST(HttpRequest.BodyPublishers.ofString("grüner Tee"))
                .build();
        assertThat(rest.as("ann", "clerk").send(order).body()).isEqualTo("ann buys grüner Tee, as a clerk: true");
    }

    @Test
    void otherPathsAreNotFound() {
        assertThat(rest.get("/shop").statusCode()).isEqualTo(404);
        assertThat(rest.get("/api/nothing").statusCode()).isEqualTo(404);
    }

    @Test
    void anExceptionWithoutAMapperHasTheStatus500() {
        assertThat(rest.get("/api/shop/broken").statusCode()).isEqualTo(500);
    }

    @Test
    void refusesAnotherServer() {
        HttpRequest other = HttpRequest.newBuilder(URI.create("http://example.com/api/shop"))
                .build();
        assertThatThrownBy(() -> rest.send(other)).isInstanceOf(IllegalArgumentException.class);
    }
}
