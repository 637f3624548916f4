// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.noservlet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitExceededException;
import io.weir.ratelimit.interceptor.OptionalApi;
import io.weir.ratelimit.interceptor.noservlet.RestServer.Reply;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A REST runtime without the Servlet API, on a class path that does not have it. */
class NoServletTest {
    private static final Map<String, String> POLICIES = Map.of(
            "ratelimit.policies.search.limit", "2/1h",
            "ratelimit.policies.search.key", "ip",
            "ratelimit.policies.zone.limit", "1/1h",
            "ratelimit.policies.zone.key", "ip",
            "ratelimit.policies.zone.paths", "/api/zone/*",
            "ratelimit.policies.flood.limit", "2/1h",
            "ratelimit.policies.flood.key", "ip",
            "ratelimit.policies.flood.paths", "/api/missing/*",
            "ratelimit.policies.flood.phase", "early",
            "ratelimit.policies.bean.limit", "1/1h");

    @BeforeAll
    static void requireNoServletApi() {
        assumeFalse(OptionalApi.SERVLET.isVisible(), "the execution no-servlet of Surefire runs this test");
    }

    @Path("")
    @RequestScoped
    public static class Shop {
        @Inject
        Stock stock;

        @GET
        @Path("search")
        @RateLimit("search")
        public String search() {
            return "found";
        }

        @GET
        @Path("zone/open")
        public String zone() {
            return "open";
        }

        @GET
        @Path("stock")
        public String stock() {
            return stock.count();
        }
    }

    @ApplicationScoped
    public static class Stock {
        @RateLimit("bean")
        public String count() {
            return "7";
        }
    }

    /** A mapper of the application. */
    public static class TeapotMapper implements ExceptionMapper<RateLimitExceededException> {
        @Override
        public Response toResponse(RateLimitExceededException exception) {
            return Response.status(429).entity("short and stout").build();
        }
    }

    private static RestServer start(Class<?>... classes) {
        return RestServer.start(POLICIES, classes);
    }

    @Test
    void limitsAnAnnotatedMethodByTheAddressOfThePeer() {
        try (RestServer server = start(Shop.class, Stock.class)) {
            Reply first = server.get("/api/search");
            assertThat(first.status()).isEqualTo(200);
            assertThat(first.body()).contains("found");
            assertThat(first.fields())
                    .containsEntry("ratelimit-policy", "\"search\";q=2;w=3600")
                    .hasEntrySatisfying("ratelimit", limit -> assertThat(limit).startsWith("\"search\";r=1;t="));
            assertThat(server.get("/api/search").status()).isEqualTo(200);

            Reply rejected = server.get("/api/search");
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.fields())
                    .containsEntry("content-type", "application/problem+json")
                    .containsEntry("cache-control", "no-store")
                    .containsKey("retry-after");
            assertThat(rejected.body())
                    .contains("\"status\":429")
                    .contains("#quota-exceeded\"")
                    .contains("\"violated-policies\":[\"search\"]");

            assertThat(server.get("/api/search", "127.0.0.2").status())
                    .as("another peer")
                    .isEqualTo(200);
        }
    }

    @Test
    void limitsOnlyTheEnforcedShareOfThePeers() {
        Map<String, String> staged = Map.of(
                "ratelimit.policies.search.limit", "1/1h",
                "ratelimit.policies.search.key", "ip",
                "ratelimit.policies.search.mode", "shadow",
                "ratelimit.policies.search.enforce-percent", "50",
                "ratelimit.policies.bean.limit", "1/1h");
        Map<Integer, Integer> statuses = new HashMap<>();
        try (RestServer server = RestServer.start(staged, Shop.class, Stock.class)) {
            for (int peer = 2; peer < 22; peer++) {
                Reply first = server.get("/api/search", "127.0.0." + peer);
                Reply second = server.get("/api/search", "127.0.0." + peer);
                assertThat(first.status()).isEqualTo(200);
                if (second.status() == 429) {
                    assertThat(first.fields()).containsEntry("ratelimit-policy", "\"search\";q=1;w=3600");
                    assertThat(second.fields()).containsKeys("retry-after", "ratelimit");
                } else {
                    assertThat(first.fields()).doesNotContainKeys("ratelimit", "ratelimit-policy");
                    assertThat(second.fields()).doesNotContainKeys("ratelimit", "ratelimit-policy", "retry-after");
                }
                statuses.merge(second.status(), 1, Integer::sum);
            }
        }
        // The selection is the same in each run.
        assertThat(statuses).containsOnlyKeys(200, 429);
    }

    @Test
    void limitsAPathWithoutAnAnnotation() {
        try (RestServer server = start(Shop.class, Stock.class)) {
            assertThat(server.get("/api/zone/open").fields()).containsKey("ratelimit");
            assertThat(server.get("/api/zone/open").status()).isEqualTo(429);
        }
    }

    @Test
    void limitsRequestsThatMatchNoResourceEarly() {
        try (RestServer server = start(Shop.class, Stock.class)) {
            assertThat(server.get("/api/missing/a").status()).isEqualTo(404);
            assertThat(server.get("/api/missing/b").status()).isEqualTo(404);
            assertThat(server.get("/api/missing/c").status()).isEqualTo(429);
        }
    }

    @Test
    void mapsARejectionThatAResourceThrows() {
        try (RestServer server = start(Shop.class, Stock.class)) {
            assertThat(server.get("/api/stock").body()).contains("7");
            Reply rejected = server.get("/api/stock");
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.fields()).containsKeys("retry-after", "ratelimit", "ratelimit-policy");
            assertThat(rejected.body()).contains("\"violated-policies\":[\"bean\"]");
        }
    }

    @Test
    void asksTheMapperOfTheApplication() {
        try (RestServer server = start(Shop.class, Stock.class, TeapotMapper.class)) {
            server.get("/api/zone/open");
            Reply rejected = server.get("/api/zone/open");
            assertThat(rejected.status()).isEqualTo(429);
            assertThat(rejected.body()).contains("short and stout");
            assertThat(rejected.fields()).containsKeys("retry-after", "ratelimit");
        }
    }
}
