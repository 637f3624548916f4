// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/** An HTTP client without redirects and retries, with a timeout. */
final class Http {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final HttpClient CLIENT = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(TIMEOUT)
            .build();

    private Http() {}

    /** Returns the value of {@code Authorization} of a user. */
    static String basic(String user, String password) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(UTF_8));
    }

    /** Returns a URL with the loopback address. The adapter of Payara returns another address of the machine, which changes the client address. */
    static URI loopback(URL url) {
        return URI.create("http://127.0.0.1:" + url.getPort() + url.getPath());
    }

    /** Sends a GET request. Headers are alternating names and values. */
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

    /** Returns an address in a network that no other test uses. */
    static String freshAddress() {
        long bits = ThreadLocalRandom.current().nextLong();
        return String.format("2001:db8:%x:%x::1", bits & 0xffff, bits >>> 48);
    }

    /** Sends a GET request repeatedly and returns the statuses. */
    static List<Integer> statuses(int times, URI uri, String... headers) {
        return IntStream.range(0, times)
                .mapToObj(i -> get(uri, headers).statusCode())
                .toList();
    }

    /**
     * Sends a text, of which each character is one byte, and returns the first line of the response.
     *
     * @return the line; empty if the server closes the connection without a response
     */
    static String raw(URI server, String bytes) {
        try (Socket socket = new Socket(server.getHost(), server.getPort())) {
            socket.setSoTimeout((int) TIMEOUT.toMillis());
            try {
                socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
                socket.getOutputStream().flush();
                return firstLine(socket.getInputStream());
            } catch (SocketException e) {
                return ""; // the server has reset the connection
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
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).timeout(TIMEOUT);
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
