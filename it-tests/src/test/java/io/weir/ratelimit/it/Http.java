// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/** A client that neither follows nor retries, and gives up rather than wait for ever. */
final class Http {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();

    private Http() {}

    /** The same place by the loopback address: Payara's adapter tells the machine's own, by which a client is another. */
    static URI loopback(URL url) {
        return URI.create("http://127.0.0.1:" + url.getPort() + url.getPath());
    }

    /** A GET with header fields, given as name, value, name, value. */
    static HttpResponse<String> get(URI uri, String... headers) {
        return send(request(uri, headers).build());
    }

    static HttpResponse<String> head(URI uri, String... headers) {
        return send(request(uri, headers)
                .method("HEAD", HttpRequest.BodyPublishers.noBody())
                .build());
    }

    static HttpResponse<String> options(URI uri, String... headers) {
        return send(request(uri, headers)
                .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                .build());
    }

    static HttpResponse<String> delete(URI uri, String... headers) {
        return send(request(uri, headers).DELETE().build());
    }

    static HttpResponse<String> post(URI uri, String type, String body, String... headers) {
        return send(request(uri, headers)
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build());
    }

    static CompletableFuture<HttpResponse<String>> getAsync(URI uri, String... headers) {
        return CLIENT.sendAsync(request(uri, headers).build(), BodyHandlers.ofString());
    }

    /** An address of a network that no other test has. */
    static String freshAddress() {
        long bits = ThreadLocalRandom.current().nextLong();
        return String.format("2001:db8:%x:%x::1", bits & 0xffff, bits >>> 48);
    }

    /** The status of the same GET, so many times one after another. */
    static List<Integer> statuses(int times, URI uri, String... headers) {
        return IntStream.range(0, times)
                .mapToObj(i -> get(uri, headers).statusCode())
                .toList();
    }

    /**
     * The first line of the answer to exactly these bytes, one per character.
     *
     * @return empty if the server closes the connection without an answer
     */
    static String raw(URI server, String bytes) {
        try (Socket socket = new Socket(server.getHost(), server.getPort())) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            try {
                socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
                socket.getOutputStream().flush();
                return firstLine(socket.getInputStream());
            } catch (SocketException e) {
                return ""; // reset: the server has read enough
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String firstLine(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0 && c != '\r' && c != '\n'; c = in.read()) {
            line.append((char) c);
        }
        return line.toString();
    }

    private static HttpRequest.Builder request(URI uri, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(PATIENCE);
        return headers.length == 0 ? request : request.headers(headers);
    }

    private static HttpResponse<String> send(HttpRequest request) {
        try {
            return CLIENT.send(request, BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted during " + request, e);
        }
    }
}
