// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusUnitTest;
import io.quarkus.test.common.http.TestHTTPResource;
import io.smallrye.mutiny.Uni;
import io.weir.ratelimit.RateLimit;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
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

    @RegisterExtension
    static final QuarkusUnitTest APPLICATION = new QuarkusUnitTest()
            .withApplicationRoot(jar -> jar.addClasses(Client.class, Resources.class, Work.class))
            .setBeforeAllCustomizer(() -> System.setProperty(PORT, Integer.toString(redis().port())))
            .overrideConfigKey("quarkus.vertx.event-loops-pool-size", "1")
            .overrideConfigKey("ratelimit.redis.address", "redis://127.0.0.1:${" + PORT + "}")
            .overrideConfigKey("ratelimit.redis.deadline", "30s")
            .overrideConfigKey("ratelimit.policies.shared.limit", "2/1h")
            .overrideConfigKey("ratelimit.policies.shared.key", "header:X-Client + method");

    private static RedisProcess redis;

    private static RedisProcess redis() {
        redis = RedisProcess.started();
        return redis;
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
    void aRedisThatDoesNotAnswerHoldsNoEventLoop() throws Exception {
        assertThat(status("uni")).isEqualTo(200);
        long pid = pidOfRedis();
        signal(pid, "STOP");
        try {
            CompletableFuture<HttpResponse<String>> resource = start("uni");
            CompletableFuture<HttpResponse<String>> bean = start("bean");
            assertThat(client.get("shared/free").body()).isEqualTo("free");
            assertThat(resource).isNotDone();
            assertThat(bean).isNotDone();
            signal(pid, "CONT");
            assertThat(resource.join().statusCode()).isEqualTo(200);
            assertThat(bean.join().statusCode()).isEqualTo(200);
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
}
