// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Weir on Helidon MP: Jakarta REST and CDI without the Servlet API. */
@Tag("server")
@Tag("ci")
class HelidonIT {
    private static Server server;

    @BeforeAll
    static void start() {
        server = HelidonServer.named("helidon")
                .javaHome(NewerJdk.required("Helidon"))
                .startDeployed();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void hasNoServletApi() throws IOException {
        Path jar = Path.of(Server.required("weir.helidon.jar"));
        try (Stream<Path> libraries = Files.list(jar.resolveSibling("libs"))) {
            assertThat(libraries.map(library -> library.getFileName().toString()))
                    .isNotEmpty()
                    .noneMatch(name -> name.contains("servlet") || name.contains("jakartaee"));
        }
    }

    @Test
    void annotationLimitsEachAddress() {
        for (int left = 4; left >= 0; left--) {
            HttpResponse<String> allowed = get("hello");
            assertThat(allowed.statusCode()).isEqualTo(200);
            assertThat(allowed.body()).isEqualTo("Hello\n");
            assertThat(LimitResponse.remaining(allowed)).isEqualTo(left);
            assertThat(LimitResponse.field(allowed, "RateLimit-Policy")).isEqualTo("\"hello\";q=5;w=10");
        }
        LimitResponse.verifyRejected(get("hello"), "hello");
    }

    @Test
    void addressIsThatOfTheConnection() throws IOException {
        assertThat(Http.statuses(2, uri("hello/file"))).containsExactly(200, 200);
        HttpResponse<String> rejected = get("hello/file");
        LimitResponse.verifyRejected(rejected, "files");
        assertThat(statusFrom("127.0.0.2", "hello/file")).startsWith("HTTP/1.1 200");
    }

    @Test
    void earlyPolicyLimitsRequestsForPathsThatDoNotExist() {
        assertThat(Http.statuses(3, uri("admin/users"))).containsOnly(404);
        LimitResponse.verifyRejected(get("admin/backup.zip"), "probes");
    }

    @Test
    void rejectionOfABeanHasTheSameResponse() {
        assertThat(get("hello/stock").body()).isEqualTo("7\n");
        LimitResponse.verifyRejected(get("hello/stock"), "stock");
    }

    @ParameterizedTest
    @CsvSource({
        "text, 200",
        "nothing, 204",
        "failure, 500",
        "stage/value, 200",
        "stage/failure, 503",
        "suspended, 200",
        "timeout, 500", // Helidon supports no timeout of a suspended response
        "stream, 200"
    })
    void responseReleasesItsSlot(String path, int status) {
        for (int call = 1; call <= 3; call++) {
            assertThat(get("slow/" + path).statusCode()).as("call %d", call).isEqualTo(status);
            awaitSlot();
        }
        assertThat(Http.head(uri("slow/text")).statusCode()).isEqualTo(200);
        awaitSlot();
    }

    @Test
    void streamHoldsItsSlotUntilTheClientDisconnects() throws IOException {
        try (Socket socket = new Socket("127.0.0.1", server.baseUri().getPort())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write("GET /slow/stream HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                    .isEqualTo("HTTP/1.1 200");
            assertThat(get("slow/text").statusCode()).isEqualTo(429);
            socket.setSoLinger(true, 0);
        }
        awaitSlot();
    }

    /** Waits until the slot is free. The client can have its response before the server has closed it. */
    private static void awaitSlot() {
        Await.until(
                "the slot is free",
                Duration.ofSeconds(10),
                () -> get("slow/free").body().equals("1"));
    }

    @Test
    void startReportsThePolicies() {
        assertThat(server.log())
                .contains("WEIR-001 Rate limits are enabled. Backend: local")
                .contains("policy hello: 5/10s sliding-window; key ip; 1 method");
    }

    private static HttpResponse<String> get(String path) {
        return Http.get(uri(path));
    }

    private static URI uri(String path) {
        return server.baseUri().resolve(path);
    }

    /** Sends a request from another address of the loopback interface, and returns the status line. */
    private static String statusFrom(String address, String path) throws IOException {
        try (Socket socket = new Socket(
                InetAddress.getByName("127.0.0.1"), server.baseUri().getPort(), InetAddress.getByName(address), 0)) {
            socket.setSoTimeout(20_000);
            String request = "GET /" + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            // Helidon does not close the connection at once.
            return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
        }
    }
}
