// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCredentials;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** The port or the socket of the server, with its threads. Certificates are read again each minute. */
final class Transport implements AutoCloseable {
    private static final long CERTIFICATE_MINUTES = 1;

    /** The shortest interval of the pings of a proxy. By default, gRPC closes a connection that has no call and more than a few pings. */
    private static final long PING_SECONDS = 1;

    private final EnvoySettings settings;
    private final EventLoopGroup accepting = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final EventLoopGroup serving = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
    private final ScheduledExecutorService certificates;
    private final Optional<SocketFile> socket;

    Transport(EnvoySettings settings, ScheduledExecutorService certificates) {
        this.settings = settings;
        this.socket = settings.socket().map(SocketFile::new);
        this.certificates = certificates;
    }

    /**
     * Returns a builder of the server, which runs calls on the threads of the network, because no call blocks.
     *
     * @throws IOException if the address, the socket or a file of TLS cannot be used
     * @throws GeneralSecurityException if a certificate or the key is invalid
     */
    NettyServerBuilder server() throws IOException, GeneralSecurityException {
        NettyServerBuilder builder;
        if (socket.isPresent()) {
            UnixDomainSocketAddress address =
                    UnixDomainSocketAddress.of(socket.get().bound());
            builder = NettyServerBuilder.forAddress(address, credentials())
                    .channelType(NioServerDomainSocketChannel.class);
        } else {
            InetSocketAddress address = new InetSocketAddress(address(), settings.port());
            builder = NettyServerBuilder.forAddress(address, credentials()).channelType(NioServerSocketChannel.class);
        }
        return builder.permitKeepAliveTime(PING_SECONDS, TimeUnit.SECONDS)
                .permitKeepAliveWithoutCalls(true)
                .bossEventLoopGroup(accepting)
                .workerEventLoopGroup(serving)
                .directExecutor();
    }

    private ServerCredentials credentials() throws IOException, GeneralSecurityException {
        if (settings.tls().isEmpty()) {
            return InsecureServerCredentials.create();
        }
        TlsFiles files = new TlsFiles(settings.tls().get());
        ScheduledFuture<?> unusedReload =
                certificates.scheduleWithFixedDelay(files, CERTIFICATE_MINUTES, CERTIFICATE_MINUTES, TimeUnit.MINUTES);
        return files.credentials();
    }

    /** Starts the server, and returns it when clients can connect. */
    Server start(Server server) throws IOException {
        server.start();
        try {
            if (socket.isPresent()) {
                socket.get().publish();
            }
            return server;
        } catch (IOException | RuntimeException e) {
            server.shutdownNow();
            throw e;
        }
    }

    private InetAddress address() throws UnknownHostException {
        return InetAddress.getAllByName(settings.address())[0];
    }

    /** Returns whether a client that reaches the server needs no proof of its identity. */
    boolean isOpen() throws UnknownHostException {
        boolean identified =
                settings.tls().filter(tls -> tls.clientCa().isPresent()).isPresent();
        return settings.socket().isEmpty() && !identified && !address().isLoopbackAddress();
    }

    @Override
    public void close() {
        Future<?> unusedAccepting = accepting.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        Future<?> unusedServing = serving.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        socket.ifPresent(SocketFile::close);
    }
}
