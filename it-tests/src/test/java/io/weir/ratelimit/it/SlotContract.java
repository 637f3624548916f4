// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The release of slots: after each kind of response, the next call of the same client is allowed, and never two calls at once. */
interface SlotContract extends PolicyClient {
    /** Returns whether the application has servlets, too; on Quarkus it has none. */
    default boolean hasServlets() {
        return true;
    }

    @ParameterizedTest
    @CsvSource({
        "slots/now/200, one, 200",
        "slots/now/204, one, 204",
        "slots/now/302, one, 302",
        "slots/now/404, one, 404",
        "slots/now/500, one, 500",
        "slots/now/unmapped, one, 500",
        "slots/nothing, one, 204",
        "slots/big, one, 200",
        "slots/early/200, early, 200",
        "slots/early/unmapped, early, 500",
        "missing, early, 404",
        "slots/argument/200, by-argument, 200",
        "slots/argument/unmapped, by-argument, 500",
        "slots/stage/200, one, 200",
        "slots/stage/404, one, 404",
        "slots/stage/unmapped, one, 500",
        "slots/suspended/200, one, 200",
        "slots/suspended/unmapped, one, 500",
        "slots/resumed/200, one, 200",
        "slots/resumed/unmapped, one, 500",
        "slots/timeout, one, 503",
        "slots/handled-timeout, one, 200",
        "slots/canceled, one, 503",
        "slots/failing-method, one, 500",
        "slots/patient/200, patient, 200",
        "beans/call, one, 200",
        "beans/stage, one, 200",
        "../served/now, one, 200",
        "../served/error, one, 418",
        "../served/failure, one, 500",
        "../served/status, one, 418",
        "../served/forward, one, 200",
        "../served/dispatch, one, 200",
        "../served/later, one, 200",
        "../served/timeout, one, 500"
    })
    default void nextCallIsAllowed(String path, String policy, int status) {
        assumeTrue(hasServlets() || !path.startsWith("../served"));
        for (int call = 1; call <= 3; call++) {
            assertThat(get("api/" + path).statusCode()).as("call %d", call).isEqualTo(status);
            verifyFree(policy);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"401", "403", "500", "throw"})
    default void requestThatAnotherFilterAbortsReleasesItsSlot(String how) {
        for (int call = 1; call <= 3; call++) {
            assertThat(get("api/slots/now/200", "X-Abort", how).statusCode())
                    .as("call %d", call)
                    .isEqualTo(how.equals("throw") ? 500 : Integer.parseInt(how));
            verifyFree("one");
            assertThat(get("api/slots/patient/200", "X-Abort", how).statusCode())
                    .as("call %d", call)
                    .isGreaterThan(400);
            verifyFree("patient");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"slots/now/200", "slots/big", "slots/stage/200", "slots/suspended/200"})
    default void requestsWithoutABodyReleaseTheirSlot(String path) {
        for (int call = 1; call <= 3; call++) {
            assertThat(Http.head(uri("api/" + path), fields()).statusCode()).isEqualTo(200);
            verifyFree("one");
            assertThat(Http.options(uri("api/" + path), fields()).statusCode()).isBetween(200, 204);
            verifyFree("one");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "api/slots/running/method, 200",
        "api/slots/running/suspended, 200",
        "api/slots/running/suspended, unmapped",
        "api/slots/running/stage, 200",
        "api/slots/running/stage, unmapped",
        "api/slots/running/stream, 200",
        "api/slots/running/stream, broken",
        "api/slots/running/events, 200",
        "served/running, 200",
        "served/running-dispatch, 200"
    })
    default void runningCallHoldsItsSlot(String path, String how) {
        assumeTrue(hasServlets() || !path.startsWith("served"));
        for (int call = 1; call <= 2; call++) {
            CompletableFuture<HttpResponse<String>> response = Http.getAsync(uri(path), fields());
            assertThat(PolicyClient.eventually(() -> free("one") == 0)).isTrue();
            verifyRejected(get("api/slots/now/200"));
            verifyRejected(get("api/slots/now/200"));
            end(how);
            response.handle((done, failure) -> true).join();
            verifyFree("one");
            assertThat(get("api/slots/now/200").statusCode()).isEqualTo(200);
            verifyFree("one");
        }
    }

    @Test
    default void callThatWaitsIsAllowedWhenTheSlotIsReleased() {
        CompletableFuture<HttpResponse<String>> first = Http.getAsync(uri("api/slots/running/patient"), fields());
        assertThat(PolicyClient.eventually(() -> free("patient") == 0)).isTrue();
        CompletableFuture<HttpResponse<String>> second = Http.getAsync(uri("api/slots/patient/200"), fields());
        end("200");
        assertThat(first.join().statusCode()).isEqualTo(200);
        assertThat(second.join().statusCode()).isEqualTo(200);
        verifyFree("patient");
    }

    // --- Clients that disconnect

    @ParameterizedTest
    @ValueSource(strings = {"endless/stream", "endless/events"})
    default void clientThatDisconnectsDuringAStreamReleasesItsSlot(String path) throws IOException {
        for (int call = 1; call <= 3; call++) {
            disconnectAfterTheFirstBytes("api/slots/" + path);
            verifyFree("one");
        }
    }

    /**
     * No server reports the disconnection before the response is written. The client waits for the method, because a server need not
     * call it for a client that has disconnected.
     */
    @ParameterizedTest
    @ValueSource(strings = {"api/slots/running/suspended", "api/slots/running/stage", "api/slots/running/method"})
    default void clientThatDisconnectsBeforeTheResponseReleasesItsSlotWithTheResponse(String path) throws IOException {
        try (Socket socket = request(path)) {
            assertThat(socket.isConnected()).isTrue();
            assertThat(PolicyClient.eventually(() -> get("api/running").body().equals("true")))
                    .isTrue();
            assertThat(free("one")).isZero();
        }
        end("200");
        verifyFree("one");
    }

    private void disconnectAfterTheFirstBytes(String path) throws IOException {
        try (Socket socket = request(path)) {
            InputStream in = socket.getInputStream();
            assertThat(new String(in.readNBytes(12), StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 200");
            assertThat(free("one")).isZero();
            socket.setSoLinger(true, 0);
        }
    }

    private Socket request(String path) throws IOException {
        Socket socket = new Socket(base().getHost(), base().getPort());
        socket.setSoTimeout(20_000);
        socket.getOutputStream()
                .write(("GET " + uri(path).getPath() + " HTTP/1.1\r\nHost: localhost\r\nX-Client: " + client()
                                + "\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    // --- Calls outside of a request

    @ParameterizedTest
    @ValueSource(strings = {"work", "work-later"})
    default void callOutsideOfARequestHoldsItsSlotUntilItEnds(String path) {
        for (int call = 1; call <= 2; call++) {
            Http.post(uri("api/beans/" + path), "text/plain", "", fields());
            assertThat(PolicyClient.eventually(() -> free("by-argument") == 0)).isTrue();
            verifyRejected(get("api/slots/argument/200"));
            end("200");
            verifyFree("by-argument");
            assertThat(get("api/slots/argument/200").statusCode()).isEqualTo(200);
            verifyFree("by-argument");
        }
    }

    @Test
    default void codeReleasesItsSlot() {
        for (int call = 1; call <= 2; call++) {
            assertThat(get("api/beans/code").body()).isEqualTo("true");
        }
    }

    // --- Helpers

    /** Returns the number of free slots and takes none: a call that polls could take the slot of the call under test. */
    default long free(String policy) {
        HttpResponse<String> response = get("api/free/" + policy);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return Long.parseLong(response.body());
    }

    private void end(String how) {
        assertThat(PolicyClient.eventually(() -> Http.post(uri("api/end/" + how), "text/plain", "", fields())
                        .body()
                        .equals("true")))
                .isTrue();
    }

    /** Verifies that the only slot is free. The client can have its response before the server has ended the request. */
    private void verifyFree(String policy) {
        assertThat(PolicyClient.eventually(() -> free(policy) == 1)).as(policy).isTrue();
    }

    private static void verifyRejected(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(429);
        assertThat(response.headers().firstValue("Retry-After")).isPresent();
    }
}
