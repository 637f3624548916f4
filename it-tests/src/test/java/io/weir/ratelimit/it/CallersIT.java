// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.it.app.Users;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jboss.arquillian.container.test.api.Deployment;
import org.jboss.arquillian.container.test.api.RunAsClient;
import org.jboss.arquillian.junit5.ArquillianExtension;
import org.jboss.arquillian.test.api.ArquillianResource;
import org.jboss.shrinkwrap.api.Archive;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who the caller is on each server with its security, by the thread on which a limited bean is called. */
@Tag("arquillian")
@ExtendWith(ArquillianExtension.class)
@RunAsClient
@Tag("server")
class CallersIT {
    private static final String ANN = Http.basic("ann", "ann-password");
    private static final String BEN = Http.basic("ben", "ben-password");

    @ArquillianResource
    private URL base;

    @Deployment(testable = false)
    static Archive<?> application() {
        return TestWar.of("callers").addClass(Users.class).addAsWebInfResource("callers/web.xml", "web.xml");
    }

    @ParameterizedTest
    @ValueSource(strings = {"request", "stream", "supplied", "submitted", "servlet"})
    @Tag("field")
    void eachUserHasAKey(String place) {
        reset(place);
        assertThat(call("user", place, ANN)).isEqualTo("allowed");
        assertThat(call("user", place, ANN)).isEqualTo("rejected");
        assertThat(call("user", place, BEN)).isEqualTo("allowed");
        assertThat(remainingOfVisitors(place)).isEqualTo(1);
    }

    /** The visitor follows a user, whose threads the server uses again. */
    @ParameterizedTest
    @ValueSource(strings = {"request", "stream", "supplied", "submitted", "servlet"})
    @Tag("field")
    void aVisitorIsNoUser(String place) {
        reset(place);
        assertThat(call("user", place, ANN)).isEqualTo("allowed");
        assertThat(call("visitor", place)).isEqualTo("allowed");
        assertThat(remainingOfVisitors(place)).isZero();
        assertThat(call("visitor", place)).isEqualTo("rejected");
    }

    /** On Payara, a thread inherits the user of the thread that has created it. */
    @Test
    void anOwnThreadHasItsUserOrNone() {
        reset("own");
        assertThat(call("user", "own", ANN)).isEqualTo("allowed");
        boolean inherits = remainingOfVisitors("own") == 1;
        assertThat(call("user", "own", BEN)).isEqualTo(inherits ? "allowed" : "rejected");
        assertThat(call("user", "own", ANN)).isEqualTo("rejected");
    }

    /** The endpoint calls a limited bean, or is limited itself. */
    @ParameterizedTest
    @CsvSource({"chat, socket", "direct, direct"})
    @Tag("field")
    void aMessageOfAWebSocketHasTheUserOfItsSession(String endpoint, String policy) throws InterruptedException {
        reset(policy);
        assertThat(message(endpoint, ANN)).isEqualTo("allowed");
        assertThat(message(endpoint, ANN)).isEqualTo("rejected");
        assertThat(message(endpoint, BEN)).isEqualTo("allowed");
    }

    /** The server repeats a rejected run. */
    @Test
    void aTimerAboveItsLimitDoesNotRun() {
        Await.until("a rejected run", Duration.ofSeconds(30), () -> runs().contains("rejected"));
        assertThat(runs()).startsWith("run run rejected").doesNotEndWith("run");
    }

    private String runs() {
        return Http.get(uri("api/keys/timer/runs")).body();
    }

    private String call(String caller, String place, String... login) {
        String path = (place.equals("servlet") ? "" : "api/") + caller + "/" + place;
        HttpResponse<String> response =
                login.length == 0 ? Http.get(uri(path)) : Http.get(uri(path), "Authorization", login[0]);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    private long remainingOfVisitors(String policy) {
        return Long.parseLong(Http.get(uri("api/keys/" + policy)).body());
    }

    private void reset(String policy) {
        assertThat(Http.delete(uri("api/keys/" + policy)).statusCode()).isEqualTo(204);
    }

    private URI uri(String path) {
        return Http.loopback(base).resolve(path);
    }

    /** Sends a message over a new web socket, and returns the answer, null if there is none. */
    private @Nullable String message(String endpoint, String login) throws InterruptedException {
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        WebSocket socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .header("Authorization", login)
                .buildAsync(
                        URI.create(uri("user/" + endpoint).toString().replaceFirst("^http", "ws")),
                        new WebSocket.Listener() {
                            @Override
                            public @Nullable CompletionStage<?> onText(
                                    WebSocket from, CharSequence text, boolean last) {
                                answers.add(text.toString());
                                return null;
                            }
                        })
                .join();
        try {
            socket.sendText("hello", true).join();
            return answers.poll(20, TimeUnit.SECONDS);
        } finally {
            socket.abort();
        }
    }
}
