// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.Archive;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The REST clients of an application on each server, with an upstream in the process of the test. */
@Order(DeploymentOrder.WITHOUT_MECHANISM)
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
@DisabledIfSystemProperty(
        named = "arquillian.launch",
        matches = "glassfish",
        disabledReason = "without MicroProfile REST Client")
class OutgoingCallsIT {
    private final String account = UUID.randomUUID().toString();
    private final List<String> received = new CopyOnWriteArrayList<>();
    private volatile int status = 200;
    private volatile Map<String, String> fields = Map.of();
    private HttpServer upstream;

    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static Archive<?> application() {
        return TestWar.of("outgoing");
    }

    @BeforeEach
    void startUpstream() throws IOException {
        upstream = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        upstream.createContext("/", this::answer);
        upstream.start();
    }

    @AfterEach
    void stopUpstream() {
        upstream.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        received.add(exchange.getRequestURI().getPath() + " "
                + exchange.getRequestHeaders().getFirst("X-Account"));
        fields.forEach(exchange.getResponseHeaders()::add);
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
    }

    private String call(String how) {
        HttpResponse<String> response = Http.get(Http.loopback(base)
                .resolve("api/outgoing/" + how + "?account=" + account + "&upstream=http://localhost:"
                        + upstream.getAddress().getPort()));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    @ParameterizedTest
    @ValueSource(strings = {"client", "client-later", "acquired", "interface", "interface-later", "inherited"})
    @Tag("field")
    void callSpendsAPermit(String how) {
        assertThat(call(how)).isEqualTo("200");
        assertThat(call("remaining")).isEqualTo("99");
        assertThat(received).containsExactly("/partner/items " + account);
    }

    @Test
    @Tag("field")
    void callOfAnInjectedClientSpendsAPermit() {
        assertThat(call("injected")).as("no connection").isEqualTo("0");
        assertThat(call("remaining")).isEqualTo("99");
    }

    @ParameterizedTest
    @ValueSource(strings = {"client", "client-later", "interface"})
    void upstreamPausesAllClients(String how) {
        status = 429;
        fields = Map.of("Retry-After", "100");
        assertThat(call(how)).isEqualTo("429");
        for (String other : List.of("client", "client-later", "interface", "interface-later", "inherited")) {
            assertThat(call(other)).as(other).matches("rejected (?:9\\d|100)");
        }
        assertThat(received).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"client", "interface"})
    void upstreamLowersTheQuota(String how) {
        fields = Map.of("ratelimit", "\"default\";r=7;t=3600");
        assertThat(call(how)).isEqualTo("200");
        PolicyClient.eventually(() -> call("remaining").equals("7"));
        assertThat(call("remaining")).isEqualTo("7");
    }

    /** The budget follows the clock of the server, which no test moves; {@code RateLimitClientFilterTest} has the exact number. */
    @Test
    void retriesAboveTheBudgetAreRejected() {
        status = 500;
        assertThat(call("retried")).isEqualTo("rejected");
        assertThat(received)
                .as("the first call, ten retries of the budget, and one for each second")
                .hasSizeBetween(11, 30);
    }
}
