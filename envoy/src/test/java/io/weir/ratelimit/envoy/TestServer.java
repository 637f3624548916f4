// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import com.google.protobuf.UInt64Value;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.runtime.HostedWeir;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** A server on a free port of this process, with a client. */
final class TestServer implements AutoCloseable {
    private static final long SECONDS = 30;

    private final EnvoyServer server;
    private final ManagedChannel channel;

    private TestServer(ProgramProperties sources) throws Exception {
        server = new EnvoyServer(sources, Set.of());
        channel = NettyChannelBuilder.forAddress("127.0.0.1", server.port(), InsecureChannelCredentials.create())
                .build();
    }

    /** Returns changeable properties of servers that share a new namespace of Redis. */
    static Map<String, String> onRedis(Map<String, String> more) {
        Map<String, String> properties = new HashMap<>(Map.of(
                "ratelimit.redis.address",
                RedisFixture.shared().address(),
                "ratelimit.redis.deadline",
                "10s",
                "ratelimit.namespace",
                "envoy-" + UUID.randomUUID(),
                "ratelimit.key-secret",
                "0123456789abcdef"));
        properties.putAll(more);
        return properties;
    }

    static ProgramProperties sources(Map<String, String> properties) throws Exception {
        Properties system = new Properties();
        if (!properties.containsKey("ratelimit.envoy.socket")) {
            system.setProperty("ratelimit.envoy.port", "0");
        }
        system.setProperty("ratelimit.envoy.drain", "0s");
        properties.forEach(system::setProperty);
        return new ProgramProperties(List.of(), Map.of(), system);
    }

    /** Returns the settings of a server with these properties. */
    static EnvoySettings settings(Map<String, String> properties) throws Exception {
        EnvoyPlugin plugin = new EnvoyPlugin();
        HostedWeir.on(new EnvoyPlatform(sources(properties), plugin, Set.of())).close();
        return plugin.settings();
    }

    /** Starts a server that is not warm yet. */
    static TestServer cold(Map<String, String> properties) throws Exception {
        return new TestServer(sources(properties));
    }

    /** Starts a server with a file that also has its port. */
    static TestServer ofFile(Path file) throws Exception {
        TestServer server = new TestServer(new ProgramProperties(List.of(file), Map.of(), new Properties()));
        server.warm();
        return server;
    }

    static TestServer of(Map<String, String> properties) throws Exception {
        TestServer server = cold(properties);
        server.warm();
        return server;
    }

    void warm() throws Exception {
        server.start();
    }

    EnvoyServer server() {
        return server;
    }

    ManagedChannel channel() {
        return channel;
    }

    RateLimitServiceGrpc.RateLimitServiceBlockingStub client() {
        return RateLimitServiceGrpc.newBlockingStub(channel).withDeadlineAfter(SECONDS, TimeUnit.SECONDS);
    }

    HealthCheckResponse.ServingStatus health() {
        return HealthGrpc.newBlockingStub(channel)
                .withDeadlineAfter(SECONDS, TimeUnit.SECONDS)
                .check(HealthCheckRequest.getDefaultInstance())
                .getStatus();
    }

    RateLimitResponse call(String domain, RateLimitDescriptor... descriptors) {
        return client().shouldRateLimit(request(domain, 0, descriptors));
    }

    static RateLimitRequest request(String domain, int hits, RateLimitDescriptor... descriptors) {
        return RateLimitRequest.newBuilder()
                .setDomain(domain)
                .setHitsAddend(hits)
                .addAllDescriptors(List.of(descriptors))
                .build();
    }

    /** Returns a descriptor with entries of key and value. */
    static RateLimitDescriptor descriptor(String... entries) {
        RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
        for (int i = 0; i < entries.length; i += 2) {
            descriptor.addEntries(
                    RateLimitDescriptor.Entry.newBuilder().setKey(entries[i]).setValue(entries[i + 1]));
        }
        return descriptor.build();
    }

    static RateLimitDescriptor hits(long hits, RateLimitDescriptor descriptor) {
        return descriptor.toBuilder().setHitsAddend(UInt64Value.of(hits)).build();
    }

    @Override
    public void close() {
        channel.shutdownNow();
        server.close();
    }
}
