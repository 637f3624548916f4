// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;

/** Takes TLS off in front of a Redis, whose binary may know none, on a free port of the loopback. */
public final class TlsProxy implements AutoCloseable {
    private static final int BUFFER = 16_384;

    private final ServerSocket server;
    private final int target;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();

    private TlsProxy(ServerSocket server, int target) {
        this.server = server;
        this.target = target;
    }

    /**
     * Starts a proxy.
     *
     * @param tls key and certificate of the server
     * @param redis where to hand the plain stream on
     * @return the running proxy
     */
    public static TlsProxy started(SSLContext tls, RedisProcess redis) {
        try {
            TlsProxy proxy = new TlsProxy(
                    tls.getServerSocketFactory().createServerSocket(0, 0, InetAddress.getLoopbackAddress()),
                    redis.port());
            thread("tls-accept", proxy::accept);
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket client = server.accept();
                sockets.add(client);
                connections.incrementAndGet();
                // The first read makes the handshake, which must not hold up others.
                thread("tls-in", () -> serve(client));
            } catch (IOException e) {
                // closed, or the client is gone already
            }
        }
    }

    private void serve(Socket client) {
        try {
            Socket redis = new Socket(InetAddress.getLoopbackAddress(), target);
            sockets.add(redis);
            client.setTcpNoDelay(true);
            redis.setTcpNoDelay(true);
            thread("tls-out", () -> copy(redis, client));
            copy(client, redis);
        } catch (IOException e) {
            close(client);
        }
    }

    /** Copies until one of the two ends, and then ends the other too. */
    private void copy(Socket from, Socket to) {
        byte[] buffer = new byte[BUFFER];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                out.write(buffer, 0, read);
                out.flush();
            }
        } catch (IOException e) {
            // a refused handshake, or the other direction has ended both
        } finally {
            close(from);
            close(to);
        }
    }

    private void close(Socket socket) {
        sockets.remove(socket);
        quietly(socket);
    }

    private static void quietly(Closeable socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // there is nobody to tell
        }
    }

    private static void thread(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** The port. */
    public int port() {
        return server.getLocalPort();
    }

    /** How many connections were made, also those whose handshake failed. */
    public int connections() {
        return connections.get();
    }

    @Override
    public void close() {
        quietly(server);
        sockets.forEach(TlsProxy::quietly);
    }
}
