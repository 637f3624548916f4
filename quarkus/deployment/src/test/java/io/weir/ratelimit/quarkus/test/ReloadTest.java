// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusDevModeTest;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestPorts;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Changes of an application with Redis in development mode. Each replaces the limiter. */
@Tag("redis")
class ReloadTest {
    private static final int PORT = TestPorts.next();
    private static final RedisProcess REDIS = RedisProcess.started();

    @RegisterExtension
    static final QuarkusDevModeTest APPLICATION = new QuarkusDevModeTest()
            .withApplicationRoot(jar -> jar.addClasses(HelloResource.class)
                    .addAsResource(new StringAsset("""
                            quarkus.http.port=%d
                            quarkus.smallrye-jwt.enabled=false
                            ratelimit.redis.address=%s
                            ratelimit.redis.deadline=30s
                            ratelimit.policies.hello.limit=1/1h
                            ratelimit.policies.hello.key=header:X-Client
                            """.formatted(PORT, REDIS.address())), "application.properties"));

    private final Client client = new Client(URI.create("http://localhost:" + PORT + "/"));

    /** The resources of a limiter: threads by their names, and connections to Redis. */
    private record Footprint(long threads, long connections) {
        static Footprint now() {
            try (RedisConnection connection = REDIS.connect()) {
                return new Footprint(
                        Thread.getAllStackTraces().keySet().stream()
                                .map(Thread::getName)
                                .filter(name -> name.contains("redisson") || name.contains("weir"))
                                .count(),
                        connection.text("CLIENT", "LIST").lines().count() - 1);
            }
        }

        boolean isAtMost(Footprint other) {
            return threads <= other.threads && connections <= other.connections;
        }
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    private List<Integer> statuses(int calls) {
        return IntStream.range(0, calls)
                .mapToObj(call -> client.get("hello").statusCode())
                .toList();
    }

    @Test
    void eachChangeReplacesTheLimiter() {
        assertThat(statuses(2)).containsExactly(200, 429);
        Footprint one = Footprint.now();
        assertThat(one.threads).isPositive();
        assertThat(one.connections).isPositive();

        set("limit=1/1h", "limit=3/1h");
        assertThat(statuses(3)).as("one call is spent already, in Redis").containsExactly(200, 200, 429);
        APPLICATION.modifySourceFile(HelloResource.class, source -> source.replace("\"Hello\"", "\"Changed\""));
        set("limit=3/1h", "limit=4/1h");
        assertThat(client.get("hello").body()).isEqualTo("Changed");
        assertThat(statuses(1)).containsExactly(429);

        set("limit=4/1h", "limit=four");
        assertThat(client.get("hello").body()).contains("WEIR-100", "ratelimit.policies.hello.limit");
        set("limit=four", "limit=5/1h");
        assertThat(statuses(2)).containsExactly(200, 429);
        Await.until(
                "the footprint of one limiter",
                Duration.ofSeconds(60),
                Duration.ofMillis(100),
                () -> Footprint.now().isAtMost(one));

        assertThat(client.get("q/dev-ui/ratelimit/").statusCode()).isEqualTo(200);
        set("quarkus.http", "ratelimit.console.enabled=true\nratelimit.console.role=operator\nquarkus.http");
        assertThat(client.get("q/dev-ui/ratelimit/").statusCode())
                .as("the application has no login")
                .isEqualTo(403);
        assertThat(client.get("q/ratelimit/").statusCode()).isEqualTo(403);
    }

    private static void set(String before, String after) {
        APPLICATION.modifyResourceFile("application.properties", text -> text.replace(before, after));
    }
}
