// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestAuthority;
import io.weir.ratelimit.fixtures.TestFolder;
import io.weir.ratelimit.fixtures.TestPorts;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A cluster whose nodes announce addresses, and whose certificates contain names only. */
@Tag("ci")
@Tag("redis")
class TlsClusterTest {
    private static TestFolder folder;
    private static TestAuthority authority;
    private static FaultProxy tls;
    private static RedisProcess node;

    @BeforeAll
    static void formCluster() {
        folder = TestFolder.create();
        authority = TestAuthority.create(folder.path(), "authority");
        int port = TestPorts.next();
        tls = FaultProxy.inFrontOf(new RedisProcess(port, List.of()), authority.serverFor("dns:localhost"));
        node = new RedisProcess(
                port,
                RedisProcess.serverArguments(
                        port,
                        "--cluster-enabled",
                        "yes",
                        "--cluster-config-file",
                        folder.path().resolve("nodes.conf").toString(),
                        "--cluster-announce-ip",
                        "127.0.0.1",
                        "--cluster-announce-port",
                        String.valueOf(tls.port())));
        node.start();
        try (RedisConnection redis = node.connect()) {
            redis.call(Stream.concat(
                            Stream.of("CLUSTER", "ADDSLOTS"),
                            IntStream.range(0, 16_384).boxed())
                    .toArray());
            Await.until(
                    "the cluster serves all slots",
                    Duration.ofSeconds(20),
                    () -> redis.text("CLUSTER", "INFO").contains("cluster_state:ok"));
        }
    }

    @AfterAll
    static void stop() {
        tls.close();
        node.close();
        folder.close();
    }

    private static RedissonBackend started(String yaml) {
        String trusted = yaml + "\nsslTruststore: " + authority.trustStore().toUri() + "\nsslTruststorePassword: "
                + TestAuthority.PASSWORD + "\nsslKeystoreType: PKCS12\n";
        return new TestConfig(Map.of(RedisSettings.CONFIG, folder.file("redisson.yaml", trusted))).started();
    }

    @Test
    @Tag("field")
    void theMessageContainsTheAddressThatTheCertificateLacks() {
        RedissonBackend backend = started(nodes("localhost:" + tls.port(), "localhost:" + TestPorts.next()));
        try {
            Await.until(
                    "the reason is known",
                    Duration.ofSeconds(60),
                    () -> catchThrowableOfType(
                                    BackendException.class,
                                    () -> backend.acquire(List.of(TestBackend.charge("k.a", 1, FaultCalls.LIMIT))))
                            .getMessage()
                            .contains("the certificate does not contain 127.0.0.1"));
        } finally {
            backend.close();
        }
    }

    @Test
    void aSingleNameIsVerifiedForAllNodes() {
        assertDecides(started(nodes("localhost:" + tls.port())));
    }

    private static String nodes(String... addresses) {
        return Stream.of(addresses)
                .map(address -> "    - rediss://" + address + "\n")
                .collect(Collectors.joining("", "clusterServersConfig:\n  nodeAddresses:\n", ""));
    }

    private static void assertDecides(RedissonBackend backend) {
        try {
            FaultCalls.awaitDecision(backend);
        } finally {
            backend.close();
        }
    }

    @Test
    @Tag("field")
    void theSampleOfThePageMapsAddressesToNames() {
        assertDecides(started(RedisPage.sample(
                "natMapper",
                Map.of(
                        "rediss://redis-0.internal:6380",
                        "rediss://localhost:" + tls.port(),
                        "rediss://redis-1.internal:6380",
                        "rediss://localhost:" + TestPorts.next(),
                        "\"10.0.0.10\": redis-0.internal",
                        "\"127.0.0.1\": localhost"))));
    }
}
