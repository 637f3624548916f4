// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import com.google.protobuf.UInt64Value;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.BindableService;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.local.LocalServerChannel;
import io.netty.util.concurrent.Future;
import io.weir.ratelimit.RateLimitUnavailableException;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.runtime.HostedWeir;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The first calls, before the server is ready: they load the classes of the protocol, and connect the backend. They use a channel inside
 * the process, so no client reaches the server by it, and they spend no permits.
 */
final class WarmUp {
    private static final int CALLS = 200;
    private static final int LOOKS = 10;
    private static final Duration LONGEST = Duration.ofSeconds(10);
    private static final long POLL_MILLIS = 50;

    private final HostedWeir weir;
    private final BindableService service;

    WarmUp(HostedWeir weir, BindableService service) {
        this.weir = weir;
        this.service = service;
    }

    /** Warms the server. It is ready without a backend as well, because then the failure modes decide. */
    void run() throws InterruptedException, IOException {
        long end = System.nanoTime() + LONGEST.toNanos();
        EventLoopGroup threads = new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
        LocalAddress address = new LocalAddress("weir-" + UUID.randomUUID());
        Server server = NettyServerBuilder.forAddress(address, InsecureServerCredentials.create())
                .channelType(LocalServerChannel.class)
                .bossEventLoopGroup(threads)
                .workerEventLoopGroup(threads)
                .directExecutor()
                .addService(service)
                .build()
                .start();
        ManagedChannel channel = NettyChannelBuilder.forAddress(address, InsecureChannelCredentials.create())
                .channelType(LocalChannel.class)
                .eventLoopGroup(threads)
                .overrideAuthority("weir")
                .build();
        try {
            call(channel, end);
            connect(end);
        } finally {
            channel.shutdownNow().awaitTermination(1, TimeUnit.SECONDS);
            server.shutdownNow().awaitTermination(1, TimeUnit.SECONDS);
            Future<?> unused = threads.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }

    /** Looks at the quotas of all policies, which spends nothing. Few calls do, because their keys do not resolve. */
    private void call(ManagedChannel channel, long end) {
        String policies = String.join(",", weir.policies().policies().keySet());
        for (int i = 0; i < CALLS && System.nanoTime() < end; i++) {
            RateLimitDescriptor descriptor = RateLimitDescriptor.newBuilder()
                    .setHitsAddend(UInt64Value.of(0))
                    .addEntries(RateLimitDescriptor.Entry.newBuilder()
                            .setKey("policy")
                            .setValue(i < LOOKS ? policies : ""))
                    .build();
            try {
                RateLimitServiceGrpc.newBlockingStub(channel)
                        .withDeadlineAfter(
                                LONGEST.plus(weir.settings().deadline()).toMillis(), TimeUnit.MILLISECONDS)
                        .shouldRateLimit(RateLimitRequest.newBuilder()
                                .setDomain("weir.warm-up")
                                .addDescriptors(descriptor)
                                .build());
            } catch (StatusRuntimeException e) {
                return;
            }
        }
    }

    private void connect(long end) throws InterruptedException {
        while (!weir.backend().status().initialized() && System.nanoTime() < end) {
            Thread.sleep(POLL_MILLIS);
        }
        for (Policy policy : weir.policies().policies().values()) {
            if (System.nanoTime() < end) {
                try {
                    weir.engine().keys().peek(policy, new DescriptorCall(Map.of()));
                } catch (RateLimitUnavailableException e) {
                    return;
                }
            }
        }
    }
}
