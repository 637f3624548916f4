// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.quarkus.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.QuarkusDevModeTest;
import io.weir.ratelimit.fixtures.TestPorts;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The card of the Dev UI, and the console of an application that does not configure it. */
class DevUiTest {
    private static final int PORT = TestPorts.next();
    private static final URI BASE = URI.create("http://localhost:" + PORT + "/");

    @RegisterExtension
    static final QuarkusDevModeTest APPLICATION = new QuarkusDevModeTest()
            .withApplicationRoot(jar -> jar.addClasses(HelloResource.class)
                    .addAsResource(new StringAsset("""
                            quarkus.http.port=%d
                            ratelimit.policies.hello.limit=1/1h
                            ratelimit.policies.hello.key=header:X-Client
                            ratelimit.policies.other.limit=1/1h
                            ratelimit.policies.other.paths=/other
                            """.formatted(PORT)), "application.properties"));

    private final Client client = new Client(BASE);

    @Test
    void aDeveloperSeesAndResetsLimits() throws Exception {
        assertThat(client.get("hello").statusCode()).isEqualTo(200);
        assertThat(client.get("hello").statusCode()).isEqualTo(429);
        theCardIsComplete();
        onlyTheDevUiHasTheConsole();
        onlyLocalHostsAreAccepted();
        aKeyIsReset();
    }

    private void theCardIsComplete() {
        assertThat(client.get("q/dev-ui/weir-quarkus-data.js").body())
                .contains("{\"method\":\"HelloResource.hello\",\"policies\":\"hello\",\"limit\":\"\",\"key\":\"\"}");
        assertThat(client.get("q/dev-ui/devui-data.js").body())
                .contains("Limited methods", "Policies and decisions", "/q/dev-ui/ratelimit/");
        assertThat(call("weir-quarkus_policies")).contains("\"object\":2");
    }

    /** Calls a method of the Dev UI, as its page does. */
    private static String call(String method) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        WebSocket socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create("ws://localhost:" + PORT + "/q/dev-ui/json-rpc-ws"), new WebSocket.Listener() {
                    private final StringBuilder text = new StringBuilder();

                    @Override
                    public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
                        text.append(data.toString().replaceAll("\\s", ""));
                        if (text.indexOf("\"id\":17") >= 0 && last) {
                            answer.complete(text.toString());
                        }
                        return WebSocket.Listener.super.onText(socket, data, last);
                    }
                })
                .join();
        try {
            socket.sendText("{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"" + method + "\",\"params\":{}}", true)
                    .join();
            return answer.orTimeout(60, TimeUnit.SECONDS).join();
        } finally {
            socket.abort();
        }
    }

    private void onlyTheDevUiHasTheConsole() {
        HttpResponse<String> page = client.get("q/dev-ui/ratelimit/");
        assertThat(page.statusCode()).isEqualTo(200);
        assertThat(page.body()).contains("console.js");
        assertThat(page.headers().firstValue("X-Frame-Options")).hasValue("SAMEORIGIN");
        assertThat(page.headers().firstValue("Content-Security-Policy").orElse(""))
                .contains("frame-ancestors 'self'");
        assertThat(client.get("q/ratelimit/").statusCode()).isEqualTo(404);
        assertThat(client.get("q/ratelimit/api/v1/policies").statusCode()).isEqualTo(404);
    }

    /** A page of another host, whose name resolves to this host, has no access. */
    private static void onlyLocalHostsAreAccepted() throws IOException {
        assertThat(statusLine("localhost")).contains(" 200 ");
        assertThat(statusLine("attacker.example")).contains(" 403 ");
    }

    private static String statusLine(String host) throws IOException {
        try (Socket socket = new Socket(InetAddress.getByName("localhost"), PORT);
                OutputStream out = socket.getOutputStream()) {
            String request = "GET /q/dev-ui/ratelimit/api/v1/policies HTTP/1.1\r\nHost: " + host + ":" + PORT
                    + "\r\nConnection: close\r\n\r\n";
            out.write(request.getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return answer.lines().findFirst().orElse("");
        }
    }

    private void aKeyIsReset() throws IOException, InterruptedException {
        String body = "{\"policy\":\"hello\",\"alternative\":\"0\",\"values\":[\"" + client.name + "\"]}";
        HttpRequest reset = HttpRequest.newBuilder(BASE.resolve("/q/dev-ui/ratelimit/api/v1/callers/reset"))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .headers("Content-Type", "application/json", "Sec-Fetch-Site", "same-origin")
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(reset, HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(client.get("hello").statusCode()).isEqualTo(200);
    }
}
