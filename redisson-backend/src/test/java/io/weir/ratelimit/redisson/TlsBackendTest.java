// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.RateLimitBackendContract;
import io.weir.ratelimit.spi.TimeSource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The contract of all stores through TLS with an authority of one's own, configured as the documentation says. */
final class TlsBackendTest extends RateLimitBackendContract {
    private static final String PASSWORD = "the-r1ght-secret";

    private static TestFolder folder;
    private static TestAuthority right;
    private static TestAuthority wrong;
    private static RedisProcess redis;
    private static FaultProxy proxy;
    private static ContractStore store;

    @BeforeAll
    static void connect() {
        folder = TestFolder.made();
        right = TestAuthority.made(folder.path(), "right");
        wrong = TestAuthority.made(folder.path(), "wrong");
        redis = RedisProcess.started("--requirepass", PASSWORD);
        proxy = FaultProxy.before(redis, right.serverFor("ip:127.0.0.1"));
        store = ContractStore.of(configured("127.0.0.1", right.trustStore()));
    }

    @AfterAll
    static void disconnect() {
        store.close();
        proxy.close();
        redis.close();
        folder.close();
    }

    @Override
    protected RateLimitBackend backend(TimeSource time) {
        return store.backend(time);
    }

    private static Map<String, String> configured(String host, Path trustStore) {
        String yaml = RedisPage.sample(
                "sslTruststore",
                Map.of(
                        "file:/etc/redis-ca.p12",
                        trustStore.toUri().toString(),
                        "changeit",
                        TestAuthority.PASSWORD,
                        "rediss://redis.internal:6380",
                        "rediss://" + host + ":" + proxy.port(),
                        "${REDIS_PASSWORD}",
                        PASSWORD));
        return Map.of(RedisSettings.CONFIG, folder.file("redisson.yaml", yaml));
    }

    @Test
    void theCertificateOfAnotherAuthorityIsRefused() {
        assertRefused(configured("127.0.0.1", wrong.trustStore()), "unable to find valid certification path");
    }

    @Test
    void theAuthoritiesOfTheJvmAreTrustedWhereNoneIsNamed() {
        assertRefused(
                Map.of(RedisSettings.ADDRESS, "rediss://:" + PASSWORD + "@127.0.0.1:" + proxy.port()),
                "unable to find valid certification path");
    }

    @Test
    void theCertificateOfAnotherHostIsRefused() {
        assertRefused(configured("localhost", right.trustStore()), "No name matching localhost found");
    }

    /** How long the first handshakes of a JVM take is not what this is about. */
    private static BackendException failure(RedissonBackend backend) {
        return catchThrowableOfType(
                BackendException.class,
                () -> backend.acquire(List.of(TestStore.charge("k.fault", 1, FaultCalls.LIMIT))));
    }

    /** Refused again and again, since certificates can be replaced, without more to say each time than the client says itself. */
    private static void assertRefused(Map<String, String> properties, String why) {
        int before = proxy.connections();
        List<BackendException> failures = new ArrayList<>();
        String logged = SecretTest.logged(() -> {
            RedissonBackend backend = new TestConfig(properties).started();
            try {
                Await.until("refused several times", Duration.ofSeconds(60), () -> {
                    BackendException failure = failure(backend);
                    failures.add(failure);
                    return proxy.connections() >= before + 4
                            && !failure.getMessage().endsWith("it is being made");
                });
            } finally {
                backend.close();
            }
        });
        assertThat(failures).extracting(BackendException::reason).containsOnly(Reason.NOT_READY);
        assertThat(failures.get(failures.size() - 1))
                .hasMessage("no connection to Redis yet: SSLHandshakeException")
                .hasStackTraceContaining(why);
        assertThat(logged).doesNotContain("WEIR-411").doesNotContain(PASSWORD);
        assertThat(logged.lines().filter(line -> line.contains("] ERROR ") || line.contains("] WARN org.redisson")))
                .as(logged)
                .hasSizeLessThanOrEqualTo(proxy.connections() - before);
    }
}
