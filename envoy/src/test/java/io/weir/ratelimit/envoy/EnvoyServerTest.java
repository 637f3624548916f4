// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static io.weir.ratelimit.envoy.TestServer.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.runtime.InvalidConfigurationException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The life of the server: health, reflection, transports, all problems at once, and the reload of its files. */
@Timeout(180)
class EnvoyServerTest {
    private static final Map<String, String> POLICY =
            Map.of("ratelimit.policies.api.limit", "1/1h", "ratelimit.policies.api.key", "principal");

    @TempDir
    private Path folder;

    @Test
    void theServerServesWhenItIsWarm() throws Exception {
        try (LogCapture log = new LogCapture();
                TestServer server = TestServer.cold(POLICY)) {
            assertThat(server.health()).isEqualTo(ServingStatus.NOT_SERVING);
            server.warm();
            assertThat(server.health()).isEqualTo(ServingStatus.SERVING);
            assertThat(log.lines()).noneMatch(line -> line.startsWith("WARNING"));
            // The first calls have spent nothing.
            assertThat(server.call("edge", descriptor("policy", "api")).getOverallCode())
                    .isEqualTo(Code.OK);
        }
    }

    @Test
    void theServerDescribesItsServices() throws Exception {
        try (TestServer server = TestServer.cold(POLICY)) {
            CompletableFuture<List<String>> services = new CompletableFuture<>();
            StreamObserver<ServerReflectionRequest> requests = ServerReflectionGrpc.newStub(server.channel())
                    .serverReflectionInfo(new StreamObserver<>() {
                        @Override
                        public void onNext(ServerReflectionResponse response) {
                            services.complete(response.getListServicesResponse().getServiceList().stream()
                                    .map(service -> service.getName())
                                    .toList());
                        }

                        @Override
                        public void onError(Throwable failure) {
                            services.completeExceptionally(failure);
                        }

                        @Override
                        public void onCompleted() {
                            services.complete(List.of());
                        }
                    });
            requests.onNext(
                    ServerReflectionRequest.newBuilder().setListServices("").build());
            assertThat(services.get(30, TimeUnit.SECONDS)).contains(RateLimitServiceGrpc.SERVICE_NAME);
            requests.onCompleted();
        }
    }

    @Test
    void aSocketReplacesThePort() throws Exception {
        Path socket = folder.resolve("envoy.sock");
        EventLoopGroup threads = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (EnvoyServer server = new EnvoyServer(
                TestServer.sources(
                        Map.of("ratelimit.policies.api.limit", "1/1h", "ratelimit.envoy.socket", socket.toString())),
                Set.of())) {
            server.start();
            ManagedChannel channel = NettyChannelBuilder.forAddress(
                            UnixDomainSocketAddress.of(socket), InsecureChannelCredentials.create())
                    .channelType(NioDomainSocketChannel.class)
                    .eventLoopGroup(threads)
                    .overrideAuthority("weir")
                    .build();
            assertThat(RateLimitServiceGrpc.newBlockingStub(channel)
                            .shouldRateLimit(request("edge", 0, descriptor("policy", "api")))
                            .getOverallCode())
                    .isEqualTo(Code.OK);
            channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
        } finally {
            threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
        assertThat(socket).doesNotExist();
    }

    @Test
    void allProblemsAreReportedTogether() {
        assertThatThrownBy(() -> TestServer.cold(Map.of(
                        "ratelimit.policies.api.limit", "many",
                        "ratelimit.envoy.port", "eight",
                        "ratelimit.envoy.tls.key", "missing.pem",
                        "ratelimit.envoy.socket", "/no/such/folder/x.sock",
                        "ratelimit.envoy.config", "missing.yaml",
                        "ratelimit.envoy.unknown", "x",
                        "ratelimit.metrics", "mp")))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContainingAll(
                        "ratelimit.policies.api.limit",
                        "ratelimit.envoy.port",
                        "ratelimit.envoy.tls.key",
                        "ratelimit.envoy.tls.certificate",
                        "ratelimit.envoy.socket",
                        "missing.yaml",
                        "ratelimit.envoy.unknown",
                        "WEIR-704");
    }

    @Test
    void anOpenPortIsReported() throws Exception {
        try (LogCapture log = new LogCapture();
                TestServer server =
                        TestServer.of(Map.of("ratelimit.envoy.address", "0.0.0.0", "ratelimit.metrics", "none"))) {
            assertThat(server.health()).isEqualTo(ServingStatus.SERVING);
            assertThat(log.lines()).anyMatch(line -> line.contains("WEIR-727"));
        }
    }

    @Test
    void filesOfEnvoyAreRulesAndAreReadAgain() throws Exception {
        Path file = Files.writeString(folder.resolve("edge.yaml"), rules(1));
        try (TestServer server =
                TestServer.of(Map.of("ratelimit.envoy.config", file.toString(), "ratelimit.reload-interval", "1h"))) {
            assertThat(server.call("shop", descriptor("user", "ann")).getOverallCode())
                    .isEqualTo(Code.OK);
            assertThat(server.call("shop", descriptor("user", "ann")).getOverallCode())
                    .isEqualTo(Code.OVER_LIMIT);
            assertThat(server.call("shop", descriptor("user", "bob")).getOverallCode())
                    .isEqualTo(Code.OK);
            assertThat(server.call("shop", descriptor("free", "x"))
                            .getStatuses(0)
                            .getLimitRemaining())
                    .isEqualTo(-1);
            assertThat(server.call("shop", descriptor("user", "cid"), descriptor("other", "x"))
                            .getStatuses(0)
                            .hasCurrentLimit())
                    .isFalse();
            Files.writeString(file, rules(5));
            server.server().weir().reload().run();
            assertThat(server.call("shop", descriptor("user", "ann")).getOverallCode())
                    .isEqualTo(Code.OK);
        }
    }

    private static String rules(int requests) {
        return "domain: shop\ndescriptors:\n"
                + "  - { key: user, rate_limit: { name: user, unit: year, requests_per_unit: " + requests + " } }\n"
                + "  - { key: free, rate_limit: { unlimited: true } }\n"
                + "  - { key: other, rate_limit: { replaces: [{ name: user }], unit: year, requests_per_unit: 9 } }\n";
    }
}
