// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.message.EnvoyMessages.MESSAGES;

import io.envoyproxy.envoy.service.rate_limit_quota.v3.RateLimitQuotaServiceGrpc;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Server;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.weir.ratelimit.core.config.ConfigProperties;
import io.weir.ratelimit.core.instance.ApplicationView;
import io.weir.ratelimit.runtime.HostedWeir;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** The running server. It reports that it serves when its first calls are over, and until it stops. */
final class EnvoyServer implements AutoCloseable {
    private final HostedWeir weir;
    private final EnvoySettings settings;
    private final ScheduledExecutorService certificates;
    private final Transport transport;
    private final HealthStatusManager health = new HealthStatusManager();
    private final RateLimitService service;
    private final QuotaService quotas;
    private final Server server;
    private final AtomicBoolean serves = new AtomicBoolean();

    /**
     * Creates a server that accepts connections and is not ready yet.
     *
     * @throws io.weir.ratelimit.runtime.InvalidConfigurationException if the configuration is invalid, with all problems
     * @throws IOException if the port or the socket cannot be used
     * @throws GeneralSecurityException if a certificate or the key is invalid
     */
    EnvoyServer(ConfigProperties.Sources sources, Set<String> variables) throws IOException, GeneralSecurityException {
        EnvoyPlugin plugin = new EnvoyPlugin();
        weir = HostedWeir.on(new EnvoyPlatform(sources, plugin, variables));
        settings = plugin.settings();
        certificates = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "weir-certificates");
            thread.setDaemon(true);
            return thread;
        });
        transport = new Transport(settings, certificates);
        service = new RateLimitService(weir, plugin);
        quotas = new QuotaService(weir, plugin);
        set(ServingStatus.NOT_SERVING);
        try {
            NettyServerBuilder builder =
                    transport.server().addService(service).addService(quotas).addService(health.getHealthService());
            if (settings.reflection()) {
                builder.addService(ProtoReflectionServiceV1.newInstance());
            }
            server = transport.start(builder.build());
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            transport.close();
            certificates.shutdownNow();
            weir.close();
            throw e;
        }
    }

    private void set(ServingStatus status) {
        health.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, status);
        health.setStatus(RateLimitServiceGrpc.SERVICE_NAME, status);
        health.setStatus(RateLimitQuotaServiceGrpc.SERVICE_NAME, status);
    }

    /** Makes the first calls, and reports that the server is ready. */
    void start() throws InterruptedException, IOException {
        weir.start(Thread.currentThread().getContextClassLoader());
        weir.warnings(new ApplicationView(List.of(), List.of(), Set.of(), true, false))
                .forEach(warning -> warning.log());
        if (transport.isOpen()) {
            MESSAGES.log("WEIR-727", settings.address());
        }
        new WarmUp(weir, service).run();
        set(ServingStatus.SERVING);
        serves.set(true);
        MESSAGES.log(
                "WEIR-720",
                settings.socket().map(Object::toString).orElseGet(() -> settings.address() + ":" + port()),
                settings.tls()
                        .map(tls -> tls.clientCa().isPresent() ? "mutual" : "on")
                        .orElse("off"));
    }

    /** Returns the port; -1 for a socket. */
    int port() {
        return server.getPort();
    }

    HostedWeir weir() {
        return weir;
    }

    void awaitEnd() throws InterruptedException {
        server.awaitTermination();
    }

    /** Reports that the server does not serve, answers until proxies have seen it, lets running calls end, and disconnects. */
    @Override
    public void close() {
        health.enterTerminalState();
        if (serves.getAndSet(false)) {
            drain();
        }
        server.shutdown();
        quotas.close();
        try {
            if (!server.awaitTermination(settings.stopTimeout().toMillis(), TimeUnit.MILLISECONDS)) {
                server.shutdownNow().awaitTermination(1, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            server.shutdownNow();
            Thread.currentThread().interrupt();
        }
        transport.close();
        certificates.shutdownNow();
        weir.close();
    }

    /** Waits until health checks can have seen that the server stops. An interrupt ends the wait, and the running calls. */
    private void drain() {
        try {
            Thread.sleep(settings.drain().toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
