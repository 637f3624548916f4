// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLContext;

/**
 * The way between clients and a Redis, on a free port of the loopback: a test can make it slow, deaf or broken, have scripts
 * answered with an error, and count what is asked.
 */
public final class FaultProxy implements AutoCloseable {
    private static final int BUFFER = 16_384;

    private enum Way {
        OPEN,
        DEAF,
        CUT
    }

    private final ServerSocket server;
    private final int target;
    private final ScheduledThreadPoolExecutor late = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "fault-late");
        thread.setDaemon(true);
        return thread;
    });
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Set<Socket> deaf = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();
    private final Map<String, Long> commands = new ConcurrentHashMap<>();
    private volatile Way way = Way.OPEN;
    private volatile Duration delay = Duration.ZERO;
    private volatile String error = "";

    private FaultProxy(ServerSocketFactory servers, RedisProcess redis) throws IOException {
        this.server = servers.createServerSocket(0, 0, InetAddress.getLoopbackAddress());
        this.target = redis.port();
        late.prestartAllCoreThreads();
        thread("fault-accept", this::accept);
    }

    /**
     * Starts one.
     *
     * @param redis where it leads
     * @return the proxy
     */
    public static FaultProxy before(RedisProcess redis) {
        return before(redis, ServerSocketFactory.getDefault());
    }

    /** Takes TLS off in front of a Redis, whose binary may know none, with that key and certificate. */
    static FaultProxy before(RedisProcess redis, SSLContext tls) {
        return before(redis, tls.getServerSocketFactory());
    }

    private static FaultProxy before(RedisProcess redis, ServerSocketFactory servers) {
        try {
            return new FaultProxy(servers, redis);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The address as configuration writes it. */
    public String address() {
        return "redis://127.0.0.1:" + port();
    }

    int port() {
        return server.getLocalPort();
    }

    /** How many connections were made, also those whose handshake failed. */
    int connections() {
        return connections.get();
    }

    /** Lets everything through at once. A connection that was deaf for a moment stays so. */
    public void open() {
        delay = Duration.ZERO;
        error = "";
        way = Way.OPEN;
    }

    /** What is sent from now on, either way, arrives so much later. */
    void delay(Duration eachWay) {
        delay = eachWay;
    }

    /** Takes connections and all that is sent, hands nothing on, and says nothing. */
    public void deafen() {
        way = Way.DEAF;
    }

    /** Resets all connections, and each new one at once. */
    void cut() {
        way = Way.CUT;
        sockets.forEach(FaultProxy::reset);
    }

    /** Has all scripts answered with an error of Redis's. */
    void answerScripts(String with) {
        error = with;
    }

    /** How many commands of that name, in lower case, clients have sent. */
    long commands(String name) {
        return commands.getOrDefault(name, 0L);
    }

    /** How many scripts clients have sent, by digest or in full. */
    public long scripts() {
        return commands("evalsha") + commands("eval");
    }

    /** How many open connections are deaf for ever. */
    int deafConnections() {
        return deaf.size();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket client = server.accept();
                connections.incrementAndGet();
                if (way == Way.CUT) {
                    reset(client);
                } else {
                    join(client);
                }
            } catch (IOException e) {
                // closed, or one of the two is gone already
            }
        }
    }

    private void join(Socket client) throws IOException {
        sockets.add(client);
        try {
            Socket redis = new Socket(InetAddress.getLoopbackAddress(), target);
            sockets.add(redis);
            client.setTcpNoDelay(true);
            redis.setTcpNoDelay(true);
            Direction asks = new Direction(client, client, redis);
            Direction answers = new Direction(client, redis, client);
            thread("fault-in", () -> asks.run(() -> copyCommands(asks)));
            thread("fault-out", () -> answers.run(() -> copy(answers)));
        } catch (IOException e) {
            end(client);
        }
    }

    private void copyCommands(Direction asks) throws IOException {
        BufferedInputStream in = new BufferedInputStream(asks.from.getInputStream());
        while (true) {
            List<?> words = (List<?>) Resp.read(in);
            String name = new String((byte[]) words.get(0), StandardCharsets.US_ASCII).toLowerCase(Locale.ROOT);
            commands.merge(name, 1L, Long::sum);
            if (way == Way.DEAF) {
                deaf.add(asks.client);
            }
            asks.send(Resp.command(name.startsWith("eval") && !error.isEmpty() ? failing(error) : words));
        }
    }

    /** Redis itself says it, so that replies keep their order. */
    private static List<String> failing(String error) {
        return List.of("EVAL", "return redis.error_reply(ARGV[1])", "0", error);
    }

    private void copy(Direction answers) throws IOException {
        byte[] buffer = new byte[BUFFER];
        for (int read = answers.from.getInputStream().read(buffer);
                read >= 0;
                read = answers.from.getInputStream().read(buffer)) {
            byte[] bytes = new byte[read];
            System.arraycopy(buffer, 0, bytes, 0, read);
            answers.send(bytes);
        }
    }

    private interface Copying {
        void run() throws IOException;
    }

    /** One of the two directions of a connection. */
    private final class Direction {
        private final Socket client;
        private final Socket from;
        private final Socket to;
        private final AtomicInteger pending = new AtomicInteger();
        private long lastDueNanos = System.nanoTime();

        Direction(Socket client, Socket from, Socket to) {
            this.client = client;
            this.from = from;
            this.to = to;
        }

        /** Copies until one of the two ends, and then ends the other too. */
        void run(Copying copying) {
            try {
                copying.run();
            } catch (IOException e) {
                // the other direction has ended both, or the test has
            } finally {
                end(from);
                end(to);
            }
        }

        void send(byte[] bytes) throws IOException {
            if (way == Way.DEAF || deaf.contains(client)) {
                return;
            }
            long now = System.nanoTime();
            long due = Math.max(now + delay.toNanos(), lastDueNanos);
            if (due <= now && pending.get() == 0) {
                to.getOutputStream().write(bytes);
                return;
            }
            lastDueNanos = due;
            pending.incrementAndGet();
            late.schedule(() -> deliver(bytes), due - now, TimeUnit.NANOSECONDS);
        }

        private void deliver(byte[] bytes) {
            try {
                to.getOutputStream().write(bytes);
            } catch (IOException e) {
                end(to);
            } finally {
                pending.decrementAndGet();
            }
        }
    }

    private void end(Socket socket) {
        sockets.remove(socket);
        deaf.remove(socket);
        quietly(socket);
    }

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // it is closed
        }
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

    @Override
    public void close() {
        quietly(server);
        sockets.forEach(FaultProxy::quietly);
        late.shutdownNow();
    }
}
