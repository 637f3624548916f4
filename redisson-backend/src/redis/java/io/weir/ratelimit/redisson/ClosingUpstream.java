// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * An upstream that answers some calls, and then 429 with {@code Retry-After: 2} for two seconds. Its own clock counts the calls, so that a
 * slow machine does not change the result. Until it is open, it answers 503.
 */
final class ClosingUpstream implements AutoCloseable {
    static final int PERMITTED = 50;
    static final Duration CLOSED = Duration.ofSeconds(2);

    /** The calls between two openings. */
    record Window(int answered, int rejected) {}

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Set<String> callers = new HashSet<>();
    private final List<Window> windows = new ArrayList<>();
    private boolean open;
    private int answered;
    private int rejected;
    private long closedUntil;
    private long firstCall;
    private long lastOpening;

    ClosingUpstream() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        server.createContext("/", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    URI uri(String caller) {
        return URI.create("http://localhost:" + server.getAddress().getPort() + "/" + caller);
    }

    private void answer(HttpExchange exchange) throws IOException {
        int status = status(exchange.getRequestURI().getPath());
        if (status == 429) {
            exchange.getResponseHeaders().add("Retry-After", Long.toString(CLOSED.toSeconds()));
        }
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private synchronized int status(String caller) {
        callers.add(caller);
        if (!open) {
            return 503;
        }
        long now = System.nanoTime();
        if (rejected > 0 && now - closedUntil >= 0) {
            windows.add(new Window(answered, rejected));
            answered = 0;
            rejected = 0;
            lastOpening = now;
        }
        if (firstCall == 0) {
            firstCall = now;
            lastOpening = now;
        }
        if (answered < PERMITTED) {
            answered++;
            return 200;
        }
        if (rejected == 0) {
            closedUntil = now + CLOSED.toNanos();
        }
        rejected++;
        return 429;
    }

    /** Returns the number of callers so far. */
    synchronized int callers() {
        return callers.size();
    }

    /** Begins to answer. */
    synchronized void open() {
        open = true;
    }

    /** Returns the windows that have ended with an opening. */
    synchronized List<Window> windows() {
        return List.copyOf(windows);
    }

    /** Returns the share of the permitted calls that callers have used in the ended windows, by the time between their openings. */
    synchronized double usedShare() {
        double permitted = (double) (lastOpening - firstCall) / CLOSED.toNanos() * PERMITTED;
        return windows.stream().mapToInt(Window::answered).sum() / permitted;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
