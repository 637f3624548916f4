// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static io.weir.ratelimit.envoy.TestServer.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
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
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.LogCapture;
import io.weir.ratelimit.runtime.InvalidConfigurationException;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The life of the server: health, reflection, transports, all problems at once, and the reload of its files. */
@Timeout(180)
class EnvoyServerTest {
    private static final Map<String, String> POLICY =
            Map.of("ratelimit.policies.api.limit", "1/1h", "ratelimit.policies.api.key", "principal");

    private static final Duration SOON = Duration.ofSeconds(60);

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

    /** A health check needs some seconds to see that a server stops, and its proxy calls the server meanwhile. */
    @Tag("field")
    @Test
    void aServerThatStopsAnswersUntilItsDrainEnds() throws Exception {
        Map<String, String> properties = new HashMap<>(POLICY);
        properties.put("ratelimit.envoy.drain", "1h");
        try (TestServer server = TestServer.of(properties)) {
            Thread stop = new Thread(server.server()::close, "stop");
            stop.start();
            Await.until("the server reports its stop", SOON, () -> server.health() == ServingStatus.NOT_SERVING);
            assertThat(server.call("edge", descriptor("policy", "api")).getOverallCode())
                    .isEqualTo(Code.OK);
            stop.interrupt();
            stop.join(SOON.toMillis());
            assertThat(stop.isAlive()).isFalse();
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

    /** The proxy sends pings of HTTP/2 while it has no calls, as connection_keepalive of Envoy does. */
    @Tag("field")
    @Test
    void aProxyMayPingWithoutCalls() throws Exception {
        try (TestServer server = TestServer.cold(POLICY);
                Socket proxy = new Socket("127.0.0.1", server.server().port())) {
            DataOutputStream out = new DataOutputStream(proxy.getOutputStream());
            DataInputStream in = new DataInputStream(proxy.getInputStream());
            out.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
            out.write(frame(4, 0));
            for (int i = 0; i < 5; i++) {
                out.write(frame(6, 8));
                proxy.setSoTimeout(60_000);
                int type = type(in);
                while (type != 6) {
                    assertThat(type).as("GOAWAY after %s pings", i).isNotEqualTo(7);
                    type = type(in);
                }
                // The answers are a second apart, so the pings are too.
                proxy.setSoTimeout(1_100);
                assertThatThrownBy(() -> type(in)).isInstanceOf(SocketTimeoutException.class);
            }
        }
    }

    private static byte[] frame(int type, int length) {
        byte[] frame = new byte[9 + length];
        frame[2] = (byte) length;
        frame[3] = (byte) type;
        return frame;
    }

    /** Reads a frame, and returns its type. */
    private static int type(DataInputStream in) throws IOException {
        int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
        int type = in.readUnsignedByte();
        in.readNBytes(5 + length);
        return type;
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
    void expressionsAreReported() {
        assertThatThrownBy(() -> TestServer.cold(Map.of(
                        "ratelimit.key-secret", "${SHOP_LIMIT_SECRET}",
                        "ratelimit.redis.address", "${SHOP_REDIS}",
                        "ratelimit.envoy.config", "${SHOP_FILE}")))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContainingAll(
                        "ratelimit.key-secret", "ratelimit.redis.address", "ratelimit.envoy.config", "WEIR-101")
                .hasMessageNotContaining("SHOP_");
        Map<String, String> variable = Map.of("RATELIMIT_REDIS_ADDRESS", "${SHOP_REDIS}");
        assertThatThrownBy(() -> new EnvoyServer(
                        new ProgramProperties(List.of(), variable, new Properties()), variable.keySet()))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContainingAll("ratelimit.redis.address", "WEIR-101");
    }

    @Test
    void aSocketHasNeitherAddressNorPort() {
        assertThatThrownBy(() -> TestServer.cold(Map.of(
                        "ratelimit.envoy.socket", folder.resolve("envoy.sock").toString(),
                        "ratelimit.envoy.address", "127.0.0.1",
                        "ratelimit.envoy.port", "8081")))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContainingAll("ratelimit.envoy.address", "ratelimit.envoy.port", "WEIR-705");
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

    /** The terms of keys are those of the start. */
    @Test
    void aNewNameOfAnEntryEndsNoLimit() throws Exception {
        String first = "domain: shop\ndescriptors:\n"
                + "  - { key: remote_address, rate_limit: { unit: year, requests_per_unit: 1 } }\n";
        Path file = Files.writeString(folder.resolve("edge.yaml"), first);
        RateLimitDescriptor address = descriptor("remote_address", "203.0.113.7");
        try (LogCapture log = new LogCapture();
                TestServer server = TestServer.cold(
                        Map.of("ratelimit.envoy.config", file.toString(), "ratelimit.reload-interval", "1h"))) {
            Files.writeString(file, first.replace("remote_address", "api_key"));
            for (Code expected : List.of(Code.OK, Code.OVER_LIMIT)) {
                server.server().weir().reload().run();
                assertThat(server.call("shop", address).getOverallCode()).isEqualTo(expected);
            }
            assertThat(log.lines()).anyMatch(line -> line.contains("WEIR-112"));
            Files.writeString(file, first.replace("remote_address", "user, value: ann"));
            for (int i = 0; i < 2; i++) {
                server.server().weir().reload().run();
                assertThat(server.call("shop", address).getOverallCode()).isEqualTo(Code.OK);
            }
            assertThat(server.server().weir().policies().policies()).containsOnlyKeys("shop.user_ann");
            assertThat(log.lines()).noneMatch(line -> line.contains("WEIR-722"));
        }
    }

    @Test
    void aPolicyOfANewFileHasNothingOfThatOfThePreviousFile() throws Exception {
        String limit = "rate_limit: { unit: year, requests_per_unit: 1 }";
        String ann = "domain: shop\ndescriptors:\n  - { key: user, value: ann, " + limit;
        Path file = Files.writeString(folder.resolve("edge.yaml"), ann + ", shadow_mode: true }\n");
        try (TestServer server =
                TestServer.cold(Map.of("ratelimit.envoy.config", file.toString(), "ratelimit.reload-interval", "1h"))) {
            server.call("shop", descriptor("user", "ann"));
            // The terms of keys are those of the start, so the second policy is invalid.
            Files.writeString(file, ann + " }\n  - { key: api_key, " + limit + " }\n");
            server.server().weir().reload().run();
            assertThat(server.server().weir().policies().policies().get("shop.user_ann"))
                    .returns(Policy.Mode.ENFORCE, policy -> policy.rollout().mode());
        }
    }

    /** Many programs write a file in place, and a full disk leaves it empty. */
    @Tag("field")
    @Test
    void anEmptyFileOfPropertiesEndsNoLimit() throws Exception {
        Path rules = Files.writeString(folder.resolve("edge.yaml"), rules(1));
        Path file = Files.writeString(
                folder.resolve("edge.properties"),
                "ratelimit.envoy.port=0\nratelimit.envoy.drain=0s\nratelimit.reload-interval=1h\n"
                        + "ratelimit.policies.api.limit=1/1h\nratelimit.envoy.config=" + rules + "\n");
        try (LogCapture log = new LogCapture();
                TestServer server = TestServer.ofFile(file)) {
            server.call("edge", descriptor("policy", "api"));
            server.call("shop", descriptor("user", "ann"));
            Files.writeString(file, "");
            server.server().weir().reload().run();
            assertThat(server.call("edge", descriptor("policy", "api")).getOverallCode())
                    .isEqualTo(Code.OVER_LIMIT);
            assertThat(server.call("shop", descriptor("user", "ann")).getOverallCode())
                    .isEqualTo(Code.OVER_LIMIT);
            assertThat(log.lines()).anyMatch(line -> line.contains("WEIR-313") && line.contains("WEIR-324"));
        }
    }

    private static String rules(int requests) {
        return "domain: shop\ndescriptors:\n"
                + "  - { key: user, rate_limit: { name: user, unit: year, requests_per_unit: " + requests + " } }\n"
                + "  - { key: free, rate_limit: { unlimited: true } }\n"
                + "  - { key: other, rate_limit: { replaces: [{ name: user }], unit: year, requests_per_unit: 9 } }\n";
    }
}
