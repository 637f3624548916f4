// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.common.annotation.NonBlocking;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.RateLimitKey;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.quarkus.test.EntryPointsTest.Beans.Tenant;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Resources and beans of all kinds, on worker threads and on event loops, in process. */
class EntryPointsTest {
    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resources.class, Beans.class, Tenant.class))
            .overrideConfigKey("ratelimit.policies.once.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.once.key", "header:X-Client + method")
            .overrideConfigKey("quarkus.http.proxy.proxy-address-forwarding", "true")
            .overrideConfigKey("ratelimit.trusted-proxies", "203.0.113.0/24")
            .setLogRecordPredicate(line -> line.getMessage().contains("WEIR-039"))
            .assertLogRecords(
                    lines -> assertThat(lines).as("both read the fields").hasSize(1))
            .overrideConfigKey("ratelimit.policies.address.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.address.key", "ip")
            .overrideConfigKey("ratelimit.policies.argument.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.argument.key", "arg:name")
            .overrideConfigKey("ratelimit.policies.tenant.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.tenant.key", "tenant")
            .overrideConfigKey("ratelimit.policies.probes.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.probes.key", "header:X-Client")
            .overrideConfigKey("ratelimit.policies.probes.paths", "/missing/*")
            .overrideConfigKey("ratelimit.policies.probes.phase", "early")
            .overrideConfigKey("ratelimit.policies.outcome.limit", "1/1h")
            .overrideConfigKey("ratelimit.policies.outcome.key", "header:X-Client")
            .overrideConfigKey("ratelimit.policies.outcome.count", "failure");

    @TestHTTPResource
    URI base;

    private Client client;

    @BeforeEach
    void connect() {
        client = new Client(base);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "blocking",
                "event-loop",
                "uni",
                "multi",
                "events",
                "stage",
                "bean/value",
                "bean/uni",
                "bean/multi",
                "bean/stage",
                "bean/of-event-loop",
                "bean/stage-of-event-loop"
            })
    void theSecondCallIsRejected(String path) {
        HttpResponse<String> first = client.get("calls/" + path);
        assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
        assertThat(first.body()).contains("done");
        assertThat(first.headers().firstValue("RateLimit").orElse("")).startsWith("\"once\";r=0");
        HttpResponse<String> second = client.get("calls/" + path);
        assertThat(second.statusCode()).as(second.body()).isEqualTo(429);
        assertThat(second.headers().firstValueAsLong("Retry-After").orElse(0)).isPositive();
        assertThat(second.headers().firstValue("RateLimit").orElse("")).startsWith("\"once\";r=0;t=");
        assertThat(second.headers().firstValue("RateLimit-Policy")).contains("\"once\";q=1;w=3600");
        assertThat(second.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(second.body()).contains("\"violated-policies\":[\"once\"]");
    }

    @Test
    void eachSubscriptionOfAUniIsACall() {
        assertThat(subscribed(0)).isEqualTo(200);
        assertThat(subscribed(1)).isEqualTo(200);
        assertThat(subscribed(1)).isEqualTo(429);
        client = new Client(base);
        assertThat(subscribed(2)).isEqualTo(429);
    }

    private int subscribed(int times) {
        return client.get("calls/bean/subscribed?times=" + times).statusCode();
    }

    @Test
    void theAddressOfTheConnectionIsAKey() {
        assertThat(client.get("calls/address").statusCode()).isEqualTo(200);
        assertThat(client.get("calls/address").statusCode()).isEqualTo(429);
        assertThat(client.get("calls/remaining?policy=address").body()).isEqualTo("0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"argument", "argument-of-event-loop"})
    void anArgumentIsAKey(String path) {
        assertThat(client.get("calls/" + path + "?name=a" + path).statusCode()).isEqualTo(200);
        assertThat(client.get("calls/" + path + "?name=a" + path).statusCode()).isEqualTo(429);
        assertThat(client.get("calls/" + path + "?name=b" + path).statusCode()).isEqualTo(200);
    }

    @Test
    void aKeyResolverReadsTheRequestOfAnEventLoop() {
        HttpResponse<String> first = client.get("calls/tenant", "X-Tenant", client.name);
        assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
        assertThat(client.get("calls/tenant", "X-Tenant", client.name).statusCode())
                .isEqualTo(429);
        assertThat(client.get("calls/tenant", "X-Tenant", client.name + "x").statusCode())
                .isEqualTo(200);
    }

    @Test
    void anEarlyPolicyLimitsRequestsForPathsThatDoNotExist() {
        assertThat(client.get("missing/page").statusCode()).isEqualTo(404);
        assertThat(client.get("missing/other").statusCode()).isEqualTo(429);
    }

    @Test
    void theOutcomeOfAReactiveBeanCounts() {
        assertThat(client.get("calls/outcome?fails=false").statusCode()).isEqualTo(200);
        assertThat(client.get("calls/outcome?fails=false").statusCode()).isEqualTo(200);
        assertThat(client.get("calls/outcome?fails=true").statusCode()).isEqualTo(500);
        assertThat(client.get("calls/outcome?fails=false").statusCode()).isEqualTo(429);
    }

    /** Quarkus calls no response filter for it. */
    @Test
    void theOutcomeOfAStreamedResponseCounts() {
        for (int call = 0; call < 3; call++) {
            assertThat(client.get("calls/streamed").statusCode())
                    .as("call %d", call)
                    .isEqualTo(200);
        }
    }

    @Test
    void applicationCodeUsesTheLimiter() {
        assertThat(client.get("calls/limiter").body()).isEqualTo("true");
        assertThat(client.get("calls/limiter").body()).isEqualTo("false");
    }

    @Path("calls")
    public static class Resources {
        @Inject
        Beans beans;

        @Inject
        RateLimiter limiter;

        @GET
        @Path("blocking")
        @RateLimit("once")
        public String blocking() {
            return "done";
        }

        @GET
        @Path("event-loop")
        @NonBlocking
        @RateLimit("once")
        public String eventLoop() {
            return "done";
        }

        @GET
        @Path("uni")
        @RateLimit("once")
        public Uni<String> uni() {
            return Uni.createFrom().item("done");
        }

        @GET
        @Path("multi")
        @RateLimit("once")
        public Multi<String> multi() {
            return Multi.createFrom().items("done");
        }

        @GET
        @Path("events")
        @Produces(MediaType.SERVER_SENT_EVENTS)
        @RateLimit("once")
        public Multi<String> events() {
            return Multi.createFrom().items("done");
        }

        @GET
        @Path("streamed")
        @RateLimit("outcome")
        public Multi<String> streamed() {
            return Multi.createFrom().items("done");
        }

        @GET
        @Path("stage")
        @RateLimit("once")
        public CompletionStage<String> stage() {
            return CompletableFuture.completedFuture("done");
        }

        @GET
        @Path("bean/value")
        public String beanValue() {
            return beans.value();
        }

        @GET
        @Path("bean/uni")
        public Uni<String> beanUni() {
            return beans.uni();
        }

        @GET
        @Path("bean/subscribed")
        public Uni<String> subscribed(@QueryParam("times") int times) {
            Uni<String> limited = beans.uni();
            Uni<String> all = Uni.createFrom().item("done");
            for (int time = 0; time < times; time++) {
                all = all.chain(() -> limited);
            }
            return all;
        }

        @GET
        @Path("bean/multi")
        public Multi<String> beanMulti() {
            return beans.multi();
        }

        @GET
        @Path("bean/stage")
        public String beanStage() {
            return beans.stage().toCompletableFuture().join();
        }

        @GET
        @Path("bean/of-event-loop")
        @NonBlocking
        public String beanOfEventLoop() {
            return beans.value();
        }

        @GET
        @Path("bean/stage-of-event-loop")
        public Uni<String> beanStageOfEventLoop() {
            return Uni.createFrom().completionStage(() -> beans.stage());
        }

        @GET
        @Path("address")
        @RateLimit("address")
        public Uni<String> address() {
            return Uni.createFrom().item("done");
        }

        @GET
        @Path("remaining")
        public long remaining(@QueryParam("policy") String policy) {
            return limiter.peek(policy, Identity.address("127.0.0.1")).get(0).remaining();
        }

        @GET
        @Path("argument")
        @RateLimit("argument")
        public String argument(@RateLimitKey("name") @QueryParam("name") String name) {
            return name;
        }

        @GET
        @Path("argument-of-event-loop")
        @RateLimit("argument")
        public Uni<String> argumentOfEventLoop(@RateLimitKey("name") @QueryParam("name") String name) {
            return Uni.createFrom().item(name);
        }

        @GET
        @Path("tenant")
        @RateLimit("tenant")
        public Uni<String> tenant() {
            return Uni.createFrom().item("done");
        }

        @GET
        @Path("outcome")
        public Uni<String> outcome(@QueryParam("fails") boolean fails) {
            return beans.outcome(fails);
        }

        @GET
        @Path("limiter")
        public Uni<Boolean> limiter() {
            return Uni.createFrom()
                    .completionStage(() -> limiter.acquireAsync("once", Identity.principal("limiter")))
                    .map(Decision::allowed);
        }
    }

    @ApplicationScoped
    public static class Beans {
        @RateLimit("once")
        public String value() {
            return "done";
        }

        @RateLimit("once")
        public Uni<String> uni() {
            return Uni.createFrom().item("done");
        }

        @RateLimit("once")
        public Multi<String> multi() {
            return Multi.createFrom().items("done");
        }

        @RateLimit("once")
        public CompletionStage<String> stage() {
            return CompletableFuture.completedFuture("done");
        }

        @RateLimit("outcome")
        public Uni<String> outcome(boolean fails) {
            return fails
                    ? Uni.createFrom().failure(new IllegalStateException("as the test asks"))
                    : Uni.createFrom().item("done");
        }

        @ApplicationScoped
        @Named("tenant")
        public static class Tenant implements KeyResolver {
            @Inject
            HttpHeaders headers;

            @Override
            public Optional<Identity> resolve(CallContext call) {
                return Optional.ofNullable(headers.getHeaderString("X-Tenant")).map(Identity::principal);
            }
        }
    }
}
