// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.client.OutgoingRateLimit;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.runtime.Weir;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.KeyResolver;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.WebApplicationException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.eclipse.microprofile.rest.client.inject.RegisterRestClient;
import org.eclipse.microprofile.rest.client.inject.RestClient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limits on Redis, also while it does not answer. */
@Tag("redis")
class RedisTest {
    private static final String PORT = "weir.test.quarkus.redis.port";
    private static final String UPSTREAM = "weir.test.quarkus.limiting.port";

    private static RedisProcess redis;
    private static HttpServer upstream;

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(
                    jar -> jar.addClasses(Client.class, Resources.class, Work.class, Partner.class, Caller.class))
            .setBeforeAllCustomizer(RedisTest::start)
            .setAfterAllCustomizer(RedisTest::stop)
            .overrideConfigKey("quarkus.vertx.event-loops-pool-size", "1")
            .overrideConfigKey("ratelimit.redis.address", "redis://127.0.0.1:${" + PORT + "}")
            .overrideConfigKey("ratelimit.redis.deadline", "30s")
            .overrideConfigKey("ratelimit.namespace", "fleet")
            .overrideConfigKey("quarkus.rest-client.partner.url", "http://127.0.0.1:${" + UPSTREAM + "}")
            .overrideConfigKey("ratelimit.clients.partner.policy", "calls")
            .overrideConfigKey("ratelimit.clients.partner.key", "caller")
            .overrideConfigKey("ratelimit.policies.calls.limit", "100/1h")
            .overrideConfigKey("ratelimit.policies.shared.limit", "2/1h")
            .overrideConfigKey("ratelimit.policies.shared.key", "header:X-Client + method");

    /** Starts Redis, and an upstream that answers 429. */
    private static void start() {
        redis = RedisProcess.started();
        System.setProperty(PORT, Integer.toString(redis.port()));
        try {
            upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        upstream.createContext("/", exchange -> {
            exchange.getResponseHeaders().add("Retry-After", "600");
            exchange.sendResponseHeaders(429, -1);
            exchange.close();
        });
        upstream.start();
        System.setProperty(UPSTREAM, Integer.toString(upstream.getAddress().getPort()));
    }

    private static void stop() {
        upstream.stop(0);
        redis.close();
    }

    @TestHTTPResource
    URI base;

    private Client client;

    @BeforeEach
    void connect() {
        client = new Client(base);
    }

    private CompletableFuture<HttpResponse<String>> start(String path) {
        return client.start("shared/" + path);
    }

    private int status(String path) {
        return start(path).join().statusCode();
    }

    @ParameterizedTest
    @ValueSource(strings = {"value", "uni", "bean"})
    void theLimitIsInRedis(String path) {
        assertThat(status(path)).isEqualTo(200);
        assertThat(status(path)).isEqualTo(200);
        assertThat(status(path)).isEqualTo(429);
        try (RedisConnection connection = RedisConnection.to("redis://127.0.0.1:" + System.getProperty(PORT))) {
            assertThat(connection.text("DBSIZE")).isNotEqualTo("0");
        }
    }

    @Test
    void aResponseOfTheUpstreamPausesTheOtherInstances() {
        try (Weir other = Weir.builder()
                .property("ratelimit.namespace", "fleet")
                .property("ratelimit.redis.address", "redis://127.0.0.1:" + System.getProperty(PORT))
                .property("ratelimit.redis.deadline", "30s")
                .property("ratelimit.policies.calls.limit", "100/1h")
                .build()) {
            assertThat(other.limiter().acquire("calls", client.name).allowed()).isTrue();
            assertThat(start("outgoing").join().body()).isEqualTo("answered");
            assertThat(other.limiter().acquire("calls", client.name).allowed()).isFalse();
            assertThat(start("outgoing").join().body()).isEqualTo("not sent");
        }
    }

    @Test
    void aRedisThatDoesNotAnswerHoldsNoEventLoop() throws Exception {
        assertThat(status("uni")).isEqualTo(200);
        long pid = pidOfRedis();
        signal(pid, "STOP");
        try {
            CompletableFuture<HttpResponse<String>> resource = start("uni");
            CompletableFuture<HttpResponse<String>> bean = start("bean");
            CompletableFuture<HttpResponse<String>> outgoing = start("outgoing");
            assertThat(client.get("shared/free").body()).isEqualTo("free");
            assertThat(resource).isNotDone();
            assertThat(bean).isNotDone();
            assertThat(outgoing).isNotDone();
            signal(pid, "CONT");
            assertThat(resource.join().statusCode()).isEqualTo(200);
            assertThat(bean.join().statusCode()).isEqualTo(200);
            assertThat(outgoing.join().body()).isEqualTo("answered");
        } finally {
            signal(pid, "CONT");
        }
    }

    private static long pidOfRedis() {
        try (RedisConnection connection = RedisConnection.to("redis://127.0.0.1:" + System.getProperty(PORT))) {
            String info = connection.text("INFO", "server");
            return Long.parseLong(info.replaceAll("(?s).*process_id:(\\d+).*", "$1"));
        }
    }

    private static void signal(long pid, String signal) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(pid))
                        .start()
                        .waitFor())
                .isZero();
    }

    @Path("shared")
    public static class Resources {
        @Inject
        Work work;

        @RestClient
        Partner partner;

        @GET
        @Path("free")
        public Uni<String> free() {
            return Uni.createFrom().item("free");
        }

        @GET
        @Path("value")
        @RateLimit("shared")
        public String value() {
            return "done";
        }

        @GET
        @Path("uni")
        @RateLimit("shared")
        public Uni<String> uni() {
            return Uni.createFrom().item("done");
        }

        @GET
        @Path("outgoing")
        public Uni<String> outgoing(@HeaderParam("X-Client") String client) {
            return partner.call(client)
                    .onFailure()
                    .recoverWithItem(failure -> failure instanceof WebApplicationException ? "answered" : "not sent");
        }

        @GET
        @Path("bean")
        public Uni<String> bean() {
            return work.uni();
        }
    }

    @ApplicationScoped
    public static class Work {
        @RateLimit("shared")
        public Uni<String> uni() {
            return Uni.createFrom().item("done");
        }
    }

    @RegisterRestClient(configKey = "partner")
    @OutgoingRateLimit("partner")
    public interface Partner {
        @GET
        @Path("offers")
        Uni<String> call(@HeaderParam("X-Client") String client);
    }

    @ApplicationScoped
    @Named("caller")
    public static class Caller implements KeyResolver {
        @Override
        public Optional<Identity> resolve(CallContext call) {
            return call.header("X-Client").map(Identity::of);
        }
    }
}
