// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The release of slots in Redis, also by an application that stops. */
@Tag("server")
@Tag("ci")
class SlotsOnRedisIT implements SlotContract {
    private static final String NAMESPACE = "it-" + UUID.randomUUID();
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private static Path temp;

    private static RedisConnection redis;
    private static Server server;

    private final String client = UUID.randomUUID().toString();

    @BeforeAll
    static void start() {
        RedisFixture fixture = RedisFixture.shared();
        redis = fixture.connect();
        server = LibertyServer.named("slots")
                .war(TestWar.written(TestWar.of("slots"), temp))
                .systemProperty("ratelimit.redis.address", fixture.address())
                .systemProperty("ratelimit.namespace", NAMESPACE)
                .readyPath("api/free/one")
                .start();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
        if (redis != null) {
            redis.drop("weir:2:{" + NAMESPACE + ":*");
            redis.close();
        }
    }

    @Override
    public URI base() {
        return server.baseUri();
    }

    @Override
    public String client() {
        return client;
    }

    /** The slots expire after one hour, so the new deployment finds the slot free only if the old one has released it. */
    @Test
    void applicationThatStopsReleasesTheSlotsOfItsCalls() throws IOException {
        CompletableFuture<HttpResponse<String>> running = Http.getAsync(uri("api/slots/running/suspended"), fields());
        assertThat(PolicyClient.eventually(() -> free("one") == 0)).isTrue();
        redeploy();
        assertThat(get("api/slots/now/200").statusCode()).isEqualTo(200);
        running.cancel(true);
    }

    private static void redeploy() throws IOException {
        long before = starts();
        Path war = server.directory().resolve("servers/slots/apps/weir-example-openliberty.war");
        Path copy = Files.copy(war, war.resolveSibling("copy.war"), StandardCopyOption.REPLACE_EXISTING);
        Files.move(copy, war, StandardCopyOption.REPLACE_EXISTING);
        Await.until("the application is deployed again", TIMEOUT, () -> starts() > before);
    }

    private static long starts() {
        return server.log().lines().filter(line -> line.contains("CWWKZ0003I")).count();
    }
}
