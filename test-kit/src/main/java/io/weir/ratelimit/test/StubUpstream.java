// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * An HTTP server in place of an upstream, for tests of limited REST clients. It listens on a free port of the loopback address, and gives
 * the answers of the test in order. Then, it repeats the last one. Without answers, it answers 200. All bodies are empty.
 *
 * <p>Thread-safe.
 */
public final class StubUpstream implements AutoCloseable {
    /**
     * A received request.
     *
     * @param method the method
     * @param uri the path with the query
     */
    public record Received(String method, URI uri) {}

    private record Answer(int status, List<String> fields) {}

    private final HttpServer server;
    private final List<Received> requests = new ArrayList<>();
    private final Deque<Answer> answers = new ArrayDeque<>();
    private Answer last = new Answer(200, List.of());

    private StubUpstream(HttpServer server) {
        this.server = server;
    }

    /**
     * Starts a server.
     *
     * @return the server
     */
    public static StubUpstream start() {
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            StubUpstream upstream = new StubUpstream(server);
            server.createContext("/", upstream::handle);
            server.start();
            return upstream;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Adds an answer.
     *
     * @param status the status
     * @param fields the names and the values of header fields in turn, such as {@code "Retry-After", "30"}
     * @return this server
     * @throws IllegalArgumentException if the last name has no value
     */
    public synchronized StubUpstream answer(int status, String... fields) {
        if (fields.length % 2 != 0) {
            throw new IllegalArgumentException("the field " + fields[fields.length - 1] + " has no value");
        }
        answers.add(new Answer(status, List.of(fields)));
        return this;
    }

    /**
     * Returns the address of the server.
     *
     * @return the address, such as {@code http://127.0.0.1:40001/}
     */
    public URI uri() {
        return URI.create("http://" + server.getAddress().getAddress().getHostAddress() + ":"
                + server.getAddress().getPort() + "/");
    }

    /**
     * Lists the requests so far.
     *
     * @return the requests in order
     */
    public synchronized List<Received> requests() {
        return List.copyOf(requests);
    }

    private synchronized Answer next(Received request) {
        requests.add(request);
        last = Optional.ofNullable(answers.poll()).orElse(last);
        return last;
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            exchange.getRequestBody().readAllBytes();
            Answer answer = next(new Received(exchange.getRequestMethod(), exchange.getRequestURI()));
            for (int i = 0; i < answer.fields.size(); i += 2) {
                exchange.getResponseHeaders().add(answer.fields.get(i), answer.fields.get(i + 1));
            }
            exchange.sendResponseHeaders(answer.status, -1);
        }
    }

    /** Stops the server. */
    @Override
    public void close() {
        server.stop(0);
    }
}
