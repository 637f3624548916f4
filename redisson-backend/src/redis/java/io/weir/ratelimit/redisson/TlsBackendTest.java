// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestAuthority;
import io.weir.ratelimit.fixtures.TestFolder;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.RateLimitBackend;
import io.weir.ratelimit.spi.TimeSource;
import io.weir.ratelimit.tck.AcquireAndRefundContract;
import io.weir.ratelimit.tck.RateLimitBackendContract;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A backend through TLS with a private certificate authority and the documented configuration, also with parts of the backend contract. */
@Tag("ci")
@Tag("redis")
class TlsBackendTest {
    private static final String PASSWORD = "the-r1ght-secret";
    private static final String NOT_TRUSTED = "is not trusted";

    private static TestFolder folder;
    private static TestAuthority right;
    private static TestAuthority wrong;
    private static RedisProcess redis;
    private static FaultProxy proxy;
    private static ContractBackend fixture;

    @BeforeAll
    static void connect() {
        folder = TestFolder.create();
        right = TestAuthority.create(folder.path(), "right");
        wrong = TestAuthority.create(folder.path(), "wrong");
        redis = RedisProcess.started("--requirepass", PASSWORD);
        proxy = FaultProxy.inFrontOf(redis, right.serverFor("ip:127.0.0.1"));
        fixture = ContractBackend.of(configured("127.0.0.1", right.trustStore()));
    }

    @AfterAll
    static void disconnect() {
        fixture.close();
        proxy.close();
        redis.close();
        folder.close();
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
    void rejectsTheCertificateOfAnotherAuthority() {
        assertConnectionFails(
                configured("127.0.0.1", wrong.trustStore()), NOT_TRUSTED, "unable to find valid certification path");
    }

    @Test
    void trustsTheAuthoritiesOfTheJvmByDefault() {
        assertConnectionFails(
                Map.of(RedisSettings.ADDRESS, "rediss://:" + PASSWORD + "@127.0.0.1:" + proxy.port()),
                NOT_TRUSTED,
                "unable to find valid certification path");
    }

    @Test
    void rejectsTheCertificateOfAnotherHost() {
        assertConnectionFails(
                configured("localhost", right.trustStore()),
                "does not contain localhost",
                "No name matching localhost found");
    }

    /** Calls once. The first handshakes of a JVM may take longer than the deadline. */
    private static BackendException failure(RedissonBackend backend) {
        return catchThrowableOfType(
                BackendException.class,
                () -> backend.acquire(List.of(TestBackend.charge("k.fault", 1, FaultCalls.LIMIT))));
    }

    /** Checks that each attempt to connect fails, since certificates can be replaced, and that Weir logs no more than the client. */
    private static void assertConnectionFails(Map<String, String> properties, String reason, String cause) {
        int before = proxy.connections();
        List<BackendException> failures = new ArrayList<>();
        String logged = SecretTest.logged(() -> {
            RedissonBackend backend = new TestConfig(properties).started();
            try {
                Await.until("several attempts have failed", Duration.ofSeconds(60), () -> {
                    BackendException failure = failure(backend);
                    failures.add(failure);
                    return proxy.connections() >= before + 4
                            && !failure.getMessage().endsWith("the first attempt is in progress");
                });
            } finally {
                backend.close();
            }
        });
        assertThat(failures).extracting(BackendException::reason).containsOnly(Reason.NOT_READY);
        assertThat(failures.get(failures.size() - 1))
                .hasMessageStartingWith("No connection to Redis at rediss://")
                .hasMessageEndingWith(
                        ":" + proxy.port() + " yet: the TLS handshake failed, since the certificate " + reason)
                .hasStackTraceContaining(cause);
        assertThat(logged).doesNotContain("WEIR-411").doesNotContain(PASSWORD);
        assertThat(logged.lines().filter(line -> line.contains("] ERROR ") || line.contains("] WARN org.redisson")))
                .as(logged)
                .hasSizeLessThanOrEqualTo(proxy.connections() - before);
    }

    @Nested
    final class AcquireAndRefund extends AcquireAndRefundContract {
        @Override
        protected RateLimitBackend backend(TimeSource time) {
            return fixture.backend(time);
        }
    }

    @Nested
    @Tag("long")
    final class WholeContract extends RateLimitBackendContract {
        @Override
        protected RateLimitBackend backend(TimeSource time) {
            return fixture.backend(time);
        }
    }
}
