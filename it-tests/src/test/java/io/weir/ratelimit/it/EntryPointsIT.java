// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonValue;
import java.io.StringReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Limited methods that the server calls for something else than a request of Jakarta REST. */
@Tag("server")
@Tag("ci")
class EntryPointsIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String FEATURES = """
            <server><featureManager>
                <feature>batch-2.1</feature>
                <feature>enterpriseBeansLite-4.0</feature>
                <feature>mpGraphQL-2.0</feature>
                <feature>mpReactiveMessaging-3.0</feature>
                <feature>websocket-2.1</feature>
                <feature>xmlWS-4.0</feature>
            </featureManager></server>
            """;

    @TempDir
    private static Path temp;

    private static Server server;

    @BeforeAll
    static void start() {
        server = LibertyServer.named("entries-liberty")
                .serverXml(FEATURES)
                .war(TestWar.written(
                        TestWar.of("entries").addAsResource("entries/orders.xml", "META-INF/batch-jobs/orders.xml"),
                        temp))
                .readyPath("api/policies/none")
                .start();
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    // --- WebSocket

    @Test
    void aRejectedMessageIsAnErrorOfItsConnection() throws InterruptedException {
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        WebSocket first = connect(answers);
        WebSocket second = connect(answers);
        try {
            assertThat(answer(first, "one", answers)).isEqualTo("one");
            assertThat(answer(first, "two", answers)).isEqualTo("two");
            assertThat(answer(first, "three", answers)).matches("rate limit exceeded: chat; retry after \\d+ s");
            assertThat(answer(second, "one", answers)).isEqualTo("one");
        } finally {
            first.abort();
            second.abort();
        }
    }

    private static WebSocket connect(BlockingQueue<String> answers) {
        return HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(
                        URI.create(server.baseUri().resolve("chat").toString().replaceFirst("^http", "ws")),
                        new WebSocket.Listener() {
                            @Override
                            public @Nullable CompletionStage<?> onText(
                                    WebSocket from, CharSequence text, boolean last) {
                                answers.add(text.toString());
                                from.request(1);
                                return null;
                            }
                        })
                .join();
    }

    private static @Nullable String answer(WebSocket socket, String text, BlockingQueue<String> answers)
            throws InterruptedException {
        socket.sendText(text, true).join();
        return answers.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    // --- GraphQL

    @Test
    void aRejectedOperationIsAnErrorWithACodeAndTheWait() {
        String query = "{product(name: \"a\") {name}}";
        for (int call = 0; call < 2; call++) {
            assertThat(graph(query, "ann")).doesNotContainKey("errors");
        }
        JsonObject rejected = graph(query, "ann");
        assertThat(rejected.getJsonObject("data").get("product")).isEqualTo(JsonValue.NULL);
        verifyError(rejected, "graph-query", "product");
        assertThat(graph(query, "ben")).doesNotContainKey("errors");
    }

    @Test
    void eachOperationOfARequestIsACall() {
        JsonObject response = graph("mutation {a: order(name: \"1\") b: order(name: \"2\")}", "ann");
        assertThat(response.getJsonObject("data").getString("a")).isEqualTo("1");
        verifyError(response, "graph-mutation", "b");
    }

    @Test
    void eachFieldOfAListIsACall() {
        JsonObject response = graph("{products {name price}}", "ann");
        assertThat(response.getJsonObject("data").getJsonArray("products"))
                .extracting(product -> product.asJsonObject().isNull("price"))
                .containsExactly(false, false, true);
        verifyError(response, "graph-field", "products", "2", "price");
    }

    @Test
    void aRejectedStageOfAnOperationIsTheSameError() {
        assertThat(graph("{news}", "ann")).doesNotContainKey("errors");
        verifyError(graph("{news}", "ann"), "graph-stage", "news");
    }

    private static void verifyError(JsonObject response, String policy, String... path) {
        assertThat(response.getJsonArray("errors")).hasSize(1);
        JsonObject error = response.getJsonArray("errors").getJsonObject(0);
        assertThat(error.getString("message")).matches("rate limit exceeded: " + policy + "; retry after \\d+ s");
        assertThat(error.getJsonObject("extensions").getString("code")).isEqualTo("rate-limit-exceeded");
        assertThat(error.getJsonArray("path"))
                .extracting(step -> step.toString().replace("\"", ""))
                .containsExactly(path);
    }

    private static JsonObject graph(String query, String client) {
        HttpResponse<String> response = Http.post(
                server.baseUri().resolve("graphql"),
                "application/json",
                Json.createObjectBuilder().add("query", query).build().toString(),
                "X-Client",
                client);
        assertThat(response.statusCode()).isEqualTo(200);
        return object(response);
    }

    // --- Timers

    /** Both timers run each second, and the server repeats a rejected run. */
    @ParameterizedTest
    @ValueSource(strings = {"schedule", "timer"})
    void aTimerAboveItsLimitDoesNotRun(String policy) {
        Await.until("a rejected run", TIMEOUT, () -> seen(policy).contains("rejected"));
        assertThat(seen(policy)).startsWith("run run rejected").doesNotEndWith("run");
    }

    @Test
    void aTimerHasNoCaller() {
        Await.until("a run", TIMEOUT, () -> seen("timer").contains("run"));
        assertThat(server.log())
                .containsPattern("WEIR-336 ratelimit.policies.timer.key: \\S*Ticker.timeout is called on a thread");
    }

    // --- Messages

    /** The broker of the application delivers a rejected message again, until the limit allows it. */
    @ParameterizedTest
    @ValueSource(strings = {"value", "stage", "processor"})
    void aRejectedMessageIsDeliveredAgain(String channel) {
        for (String order : List.of("one", "two", "three")) {
            send(channel, order);
        }
        Await.until(
                "two deliveries of the third", TIMEOUT, () -> seen(channel).startsWith("one two rejected rejected"));
        reset(channel);
        Await.until("acknowledgment", TIMEOUT, () -> seen(channel).endsWith("three"));
        send(channel, "four");
        Await.until("the channel goes on", TIMEOUT, () -> seen(channel).endsWith("four"));
        if (channel.equals("processor")) {
            assertThat(seen("processed")).isEqualTo("one two three four");
        }
    }

    @Test
    void aMessageThatWaitsIsDeliveredOnce() {
        for (String order : List.of("one", "two", "three", "four")) {
            send("patient", order);
        }
        Await.until("all messages", TIMEOUT, () -> seen("patient").equals("one two three four"));
    }

    private static void send(String channel, String text) {
        assertThat(Http.post(uri("messages/" + channel), "text/plain", text).statusCode())
                .isEqualTo(204);
    }

    // --- Batch

    @Test
    void aRejectedItemFailsTheJobWhichContinuesThere() {
        String first = Http.post(uri("job"), "text/plain", "").body();
        awaitJob(first, "FAILED");
        assertThat(seen("batch")).isEqualTo("0 1 rejected");
        assertThat(server.log())
                .containsPattern("WEIR-336 ratelimit.policies.batch.key: \\S*LimitedProcessor.processItem is called");
        reset("batch");
        awaitJob(Http.post(uri("job/" + first), "text/plain", "").body(), "COMPLETED");
        assertThat(seen("batch")).isEqualTo("0 1 rejected 2 3");
    }

    private static void awaitJob(String execution, String status) {
        Await.until(
                status, TIMEOUT, () -> Http.get(uri("job/" + execution)).body().equals(status));
    }

    // --- SOAP

    @Test
    void aRejectionIsAFaultOfTheService() {
        assertThat(soap("ann").body()).contains("<return>Hello you</return>");
        HttpResponse<String> rejected = soap("ann");
        assertThat(rejected.statusCode()).isEqualTo(500);
        assertThat(rejected.body())
                .containsPattern("<faultstring>rate limit exceeded: soap; retry after \\d+ s</faultstring>");
        assertThat(soap("ben").statusCode()).isEqualTo(200);
        assertThat(server.log()).doesNotContain("WEIR-024");
    }

    private static HttpResponse<String> soap(String client) {
        return Http.post(server.baseUri().resolve("GreetingService"), "text/xml", """
                        <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>
                            <greet xmlns="http://entries.it.ratelimit.weir.io/"><arg0 xmlns="">you</arg0></greet>
                        </s:Body></s:Envelope>""", "X-Client", client);
    }

    // --- Tools

    @Test
    void aRejectedToolIsAnErrorWithTheWait() {
        assertThat(tool("ann").getBoolean("isError")).isFalse();
        JsonObject rejected = tool("ann");
        assertThat(rejected.getBoolean("isError")).isTrue();
        assertThat(rejected.getJsonArray("content").getJsonObject(0).getString("text"))
                .matches("rate limit exceeded: tool; retry after \\d+ s");
        assertThat(tool("ben").getBoolean("isError")).isFalse();
    }

    private static JsonObject tool(String client) {
        String call = """
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                 "params": {"name": "forecast", "arguments": {"city": "Bonn"}}}""";
        return object(Http.post(uri("mcp"), "application/json", call, "X-Client", client))
                .getJsonObject("result");
    }

    // --- Helpers

    private static String seen(String policy) {
        return Http.get(uri("policies/" + policy)).body();
    }

    private static void reset(String policy) {
        assertThat(Http.delete(uri("policies/" + policy)).statusCode()).isEqualTo(204);
    }

    private static JsonObject object(HttpResponse<String> response) {
        return Json.createReader(new StringReader(response.body())).readObject();
    }

    private static URI uri(String path) {
        return server.baseUri().resolve("api/" + path);
    }
}
