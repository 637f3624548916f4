// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A load balancer that sends each request to the next server in turn. It forwards the method, the path, the header fields and the body, with
 * the {@code Host} of the client.
 */
final class LoadBalancer implements AutoCloseable {
    /** The fields that concern one connection only. */
    private static final Set<String> CONNECTION_FIELDS =
            Set.of("connection", "keep-alive", "transfer-encoding", "content-length", "upgrade-insecure-requests");

    private static final int READ_TIMEOUT_MILLIS = 30_000;

    private final HttpServer listener;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<URI> servers;
    private final AtomicInteger next = new AtomicInteger();

    private LoadBalancer(HttpServer listener, List<URI> servers) {
        this.listener = listener;
        this.servers = List.copyOf(servers);
    }

    static LoadBalancer before(List<URI> servers) {
        try {
            HttpServer listener = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
            LoadBalancer balancer = new LoadBalancer(listener, servers);
            listener.createContext("/", balancer::forward);
            listener.setExecutor(balancer.threads);
            listener.start();
            return balancer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the root of the application, with a slash at the end. */
    URI baseUri() {
        return URI.create("http://localhost:" + listener.getAddress().getPort() + "/");
    }

    private void forward(HttpExchange exchange) throws IOException {
        try {
            int position = Math.floorMod(next.getAndIncrement(), servers.size());
            byte[] answer = send(servers.get(position), request(exchange));
            int end = end(answer);
            String[] head = new String(answer, 0, end, ISO_8859_1).split("\r\n");
            for (int i = 1; i < head.length; i++) {
                String[] field = head[i].split(": ?", 2);
                if (!CONNECTION_FIELDS.contains(field[0].toLowerCase(Locale.ROOT))) {
                    exchange.getResponseHeaders().add(field[0], field[1]);
                }
            }
            int length = answer.length - end - 4;
            exchange.sendResponseHeaders(Integer.parseInt(head[0].split(" ")[1]), length == 0 ? -1 : length);
            if (length > 0) {
                exchange.getResponseBody().write(answer, end + 4, length);
            }
        } catch (ConnectException e) {
            exchange.sendResponseHeaders(502, -1);
        } finally {
            exchange.close();
        }
    }

    /** Returns the request in HTTP/1.0, whose response ends with the connection. */
    private static byte[] request(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        StringBuilder head =
                new StringBuilder(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " HTTP/1.0\r\n");
        for (Map.Entry<String, List<String>> field :
                exchange.getRequestHeaders().entrySet()) {
            if (!CONNECTION_FIELDS.contains(field.getKey().toLowerCase(Locale.ROOT))) {
                field.getValue()
                        .forEach(value -> head.append(field.getKey())
                                .append(": ")
                                .append(value)
                                .append("\r\n"));
            }
        }
        head.append("Content-Length: ").append(body.length).append("\r\n\r\n");
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes(head.toString().getBytes(ISO_8859_1));
        request.writeBytes(body);
        return request.toByteArray();
    }

    private static byte[] send(URI server, byte[] request) throws IOException {
        try (Socket socket = new Socket(server.getHost(), server.getPort())) {
            socket.setSoTimeout(READ_TIMEOUT_MILLIS);
            socket.getOutputStream().write(request);
            return socket.getInputStream().readAllBytes();
        }
    }

    private static int end(byte[] answer) throws IOException {
        for (int i = 0; i + 3 < answer.length; i++) {
            if (answer[i] == '\r' && answer[i + 1] == '\n' && answer[i + 2] == '\r' && answer[i + 3] == '\n') {
                return i;
            }
        }
        throw new IOException("the server has not answered");
    }

    @Override
    public void close() {
        listener.stop(0);
        threads.shutdownNow();
    }
}
