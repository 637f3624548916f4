// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static io.weir.ratelimit.envoy.TestServer.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The program {@code weir-envoy.jar} has all classes, services and messages that it needs. */
@Tag("server")
@Tag("redis")
@Timeout(300)
class ProgramJarIT {
    private static final Pattern READY = Pattern.compile("WEIR-720 .*?:(\\d+)\\.");

    @TempDir
    private Path folder;

    private String output() {
        try {
            return Files.readString(folder.resolve("output"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void theProgramServesWithRedis() throws Exception {
        Path properties = Files.writeString(
                folder.resolve("edge.properties"),
                "ratelimit.envoy.port=0\nratelimit.envoy.drain=0s\nratelimit.redis.deadline=30s\nratelimit.redis.address="
                        + RedisFixture.shared().address() + "\nratelimit.namespace=jar-" + UUID.randomUUID()
                        + "\nratelimit.policies.api.limit=1/1h\nratelimit.policies.api.on-failure=closed\n");
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-jar",
                        Path.of("target", "weir-envoy.jar").toString(),
                        properties.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("output").toFile())
                .start();
        try {
            Await.until("the program is ready", Duration.ofSeconds(120), () -> {
                assertThat(program.isAlive()).as(output()).isTrue();
                return READY.matcher(output()).find();
            });
            Matcher ready = READY.matcher(output());
            assertThat(ready.find()).as(output()).isTrue();
            check(Integer.parseInt(ready.group(1)));
            program.destroy();
            assertThat(program.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(output()).doesNotContain("NoClassDefFoundError", "ClassNotFoundException", "SEVERE");
        } finally {
            program.destroyForcibly();
        }
    }

    private static void check(int port) throws Exception {
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", port, InsecureChannelCredentials.create())
                .build();
        try {
            for (Code expected : new Code[] {Code.OK, Code.OVER_LIMIT}) {
                assertThat(RateLimitServiceGrpc.newBlockingStub(channel)
                                .withDeadlineAfter(60, TimeUnit.SECONDS)
                                .shouldRateLimit(request("edge", 0, descriptor("policy", "api")))
                                .getOverallCode())
                        .isEqualTo(expected);
            }
            assertThat(descriptors(channel, RateLimitServiceGrpc.SERVICE_NAME)).isPositive();
        } finally {
            channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
        }
    }

    /** Returns the number of files that describe a service, as a tool asks for them. */
    private static int descriptors(ManagedChannel channel, String service) throws Exception {
        CompletableFuture<Integer> files = new CompletableFuture<>();
        StreamObserver<ServerReflectionRequest> requests = ServerReflectionGrpc.newStub(channel)
                .serverReflectionInfo(new StreamObserver<>() {
                    @Override
                    public void onNext(ServerReflectionResponse response) {
                        files.complete(response.getFileDescriptorResponse().getFileDescriptorProtoCount());
                    }

                    @Override
                    public void onError(Throwable failure) {
                        files.completeExceptionally(failure);
                    }

                    @Override
                    public void onCompleted() {
                        files.complete(0);
                    }
                });
        requests.onNext(ServerReflectionRequest.newBuilder()
                .setFileContainingSymbol(service)
                .build());
        int found = files.get(60, TimeUnit.SECONDS);
        requests.onCompleted();
        return found;
    }
}
