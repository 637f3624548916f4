// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static io.weir.ratelimit.envoy.TestServer.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.NettyChannelBuilder;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.fixtures.TestAuthority;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS and mutual TLS of the server. */
@Timeout(180)
@Tag("ci")
class TlsTest {
    @TempDir
    private static Path folder;

    private static TestAuthority authority;
    private static TestAuthority other;
    private static TestAuthority.PemFiles files;

    @BeforeAll
    static void certificates() {
        authority = TestAuthority.create(folder, "authority");
        other = TestAuthority.create(folder, "other");
        files = authority.pemFor("edge", "ip:127.0.0.1");
    }

    private static Map<String, String> tls() {
        return new HashMap<>(Map.of(
                "ratelimit.policies.api.limit",
                "9/1h",
                "ratelimit.metrics",
                "none",
                "ratelimit.envoy.tls.certificate",
                files.certificate().toString(),
                "ratelimit.envoy.tls.key",
                files.key().toString()));
    }

    private static Code call(TestServer server, ChannelCredentials credentials) throws InterruptedException {
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        "127.0.0.1", server.server().port(), credentials)
                .build();
        try {
            return RateLimitServiceGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(60, TimeUnit.SECONDS)
                    .shouldRateLimit(request("edge", 0, descriptor("policy", "api")))
                    .getOverallCode();
        } finally {
            channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
        }
    }

    private static ChannelCredentials of(TestAuthority trusted) throws Exception {
        return TlsChannelCredentials.newBuilder()
                .trustManager(trusted.certificateFile().toFile())
                .build();
    }

    private static ChannelCredentials with(TestAuthority issuer) throws Exception {
        TestAuthority.PemFiles client = issuer.pemFor("client", "dns:client");
        return TlsChannelCredentials.newBuilder()
                .trustManager(authority.certificateFile().toFile())
                .keyManager(client.certificate().toFile(), client.key().toFile())
                .build();
    }

    @Test
    void aClientTrustsTheCertificateOfTheServer() throws Exception {
        try (LogCapture log = new LogCapture();
                TestServer server = TestServer.of(tls())) {
            assertThat(call(server, of(authority))).isEqualTo(Code.OK);
            assertThat(log.lines()).anyMatch(line -> line.contains("WEIR-720") && line.contains("TLS: on"));
            assertThatThrownBy(() -> call(server, of(other))).isInstanceOf(StatusRuntimeException.class);
            assertThatThrownBy(() -> call(server, InsecureChannelCredentials.create()))
                    .isInstanceOf(StatusRuntimeException.class);
        }
    }

    @Test
    void mutualTlsNeedsACertificateOfTheAuthority() throws Exception {
        Map<String, String> properties = tls();
        properties.put(
                "ratelimit.envoy.tls.client-ca", authority.certificateFile().toString());
        properties.put("ratelimit.envoy.address", "0.0.0.0");
        try (LogCapture log = new LogCapture();
                TestServer server = TestServer.of(properties)) {
            assertThat(call(server, with(authority))).isEqualTo(Code.OK);
            assertThatThrownBy(() -> call(server, of(authority))).isInstanceOf(StatusRuntimeException.class);
            assertThatThrownBy(() -> call(server, with(other))).isInstanceOf(StatusRuntimeException.class);
            assertThat(log.lines())
                    .anyMatch(line -> line.contains("WEIR-720") && line.contains("TLS: mutual"))
                    .noneMatch(line -> line.contains("WEIR-727"));
        }
    }

    @Test
    void aNetworkAddressWithoutClientCertificatesIsReported() throws Exception {
        Map<String, String> properties = tls();
        properties.put("ratelimit.envoy.address", "0.0.0.0");
        try (LogCapture log = new LogCapture();
                TestServer server = TestServer.of(properties)) {
            assertThat(call(server, of(authority))).isEqualTo(Code.OK);
            assertThat(log.lines()).anyMatch(line -> line.contains("WEIR-727"));
        }
    }
}
