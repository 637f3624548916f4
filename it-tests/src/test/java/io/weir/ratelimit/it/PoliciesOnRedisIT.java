// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The policy contracts with Redis, where refunds follow after the response. */
@Tag("server")
@Tag("ci")
class PoliciesOnRedisIT
        implements PathContract, OutcomeContract, SettlementContract, CallerContract, QuotaResourceContract {
    private static final String NAMESPACE = "it-" + UUID.randomUUID();

    @TempDir
    private static Path temp;

    private static RedisConnection redis;
    private static Server server;

    private final String client = UUID.randomUUID().toString();

    @BeforeAll
    static void start() throws Exception {
        RedisFixture fixture = RedisFixture.shared();
        redis = fixture.connect();
        server = LibertyServer.named("policies")
                .war(TestWar.written(TestWar.policies(), temp))
                .serverXml(Files.readString(Path.of("src/test/liberty/application.xml")))
                .systemProperty("ratelimit.redis.address", fixture.address())
                .systemProperty("ratelimit.redis.deadline", "5s")
                .systemProperty("ratelimit.namespace", NAMESPACE)
                .readyPath("api/ruled/tree/exempt")
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
}
