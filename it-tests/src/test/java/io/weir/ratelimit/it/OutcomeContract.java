// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Policies that count successes or failures only. Refunds can follow shortly after the response. */
interface OutcomeContract extends PolicyClient {
    /** Returns whether a call is answered whose client has disconnected; Quarkus ends the request of such a client. */
    default boolean answersADisconnectedClient() {
        return true;
    }

    @ParameterizedTest
    @CsvSource({
        "now/200, 200",
        "now/204, 204",
        "now/302, 302",
        "now/400, 400",
        "now/401, 401",
        "now/404, 404",
        "now/500, 500",
        "now/mapped, 422",
        "now/unmapped, 500",
        "stage/200, 200",
        "stage/404, 404",
        "stage/mapped, 422",
        "stage/unmapped, 500",
        "suspended/200, 200",
        "suspended/404, 404",
        "suspended/mapped, 422",
        "suspended/unmapped, 500",
        "nowhere, 404"
    })
    default void chargeRemainsIfTheOutcomeCounts(String path, int status) {
        boolean matched = !path.equals("nowhere");
        boolean succeeds = status < 400;
        for (int call = 1; call <= 2; call++) {
            assertThat(get("api/success/" + path).statusCode()).isEqualTo(status);
            assertThat(get("api/failure/" + path).statusCode()).isEqualTo(status);
            verifyRemaining("successes", matched && succeeds ? 3 - call : 3);
            verifyRemaining("failures", matched && !succeeds ? 3 - call : 3);
        }
    }

    @Test
    default void callerWithUncountedOutcomesIsNeverRejected() {
        for (int i = 0; i < 10; i++) {
            assertThat(get("api/success/now/500").statusCode()).isEqualTo(500);
            verifyRemaining("successes", 3);
            assertThat(get("api/failure/now/200").statusCode()).isEqualTo(200);
            verifyRemaining("failures", 3);
        }
    }

    @Test
    default void rejectionIsNotACountedOutcome() {
        assertThat(Http.statuses(5, uri("api/failure/now/401"), fields())).containsExactly(401, 401, 401, 429, 429);
        verifyRemaining("failures", 0);
        assertThat(Http.statuses(5, uri("api/success/now/200"), fields())).containsExactly(200, 200, 200, 429, 429);
        verifyRemaining("successes", 0);
    }

    @ParameterizedTest
    @CsvSource({
        "pending/200, 2, 3",
        "pending/500, 3, 2",
        "pending/unmapped, 3, 2",
        "pending-stage/200, 2, 3",
        "pending-stage/500, 3, 2",
        "pending-stage/unmapped, 3, 2"
    })
    default void pendingResponseIsCharged(String how, int successes, int failures) {
        verifyPending("api/success/", "successes", how, successes);
        verifyPending("api/failure/", "failures", how, failures);
    }

    private void verifyPending(String root, String policy, String how, int remaining) {
        CompletableFuture<HttpResponse<String>> response = Http.getAsync(uri(root + how), fields());
        verifyRemainsCharged(policy);
        assertThat(response).isNotDone();
        release(root);
        assertThat(response.join().statusCode()).isEqualTo(how.endsWith("200") ? 200 : 500);
        verifyRemaining(policy, remaining);
    }

    /** The status is available at the start or with the first event, depending on the server. */
    @Test
    default void eventStreamIsASuccess() {
        CompletableFuture<HttpResponse<String>> events = Http.getAsync(uri("api/success/pending-events"), fields());
        verifyRemainsCharged("successes");
        release("api/success/");
        assertThat(events.join().body()).containsPattern("data: ?one");
        verifyRemaining("successes", 2);

        CompletableFuture<HttpResponse<String>> others = Http.getAsync(uri("api/failure/pending-events"), fields());
        release("api/failure/");
        assertThat(others.join().body()).containsPattern("data: ?one");
        verifyRemaining("failures", 3);
    }

    private void verifyRemainsCharged(String policy) {
        assertThat(PolicyClient.eventually(() -> remaining(policy) == 2)).isTrue();
        // The method has returned long before.
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
        assertThat(remaining(policy)).as(policy).isEqualTo(2);
    }

    private void release(String root) {
        assertThat(PolicyClient.eventually(() -> Http.post(uri(root + "release"), "text/plain", "", fields())
                        .body()
                        .equals("true")))
                .isTrue();
    }

    /** The method has answered, although nobody reads the response. A call that is never answered counts as a failure. */
    @Test
    default void callerWhoDisconnectsDoesNotChangeTheOutcome() throws IOException {
        disconnectDuringACall("api/success/", "successes");
        verifyRemaining("successes", answersADisconnectedClient() ? 2 : 3);
        disconnectDuringACall("api/failure/", "failures");
        verifyRemaining("failures", answersADisconnectedClient() ? 3 : 2);
    }

    private void disconnectDuringACall(String root, String policy) throws IOException {
        URI uri = uri(root + "pending-stage/200");
        try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
            String request =
                    "GET " + uri.getPath() + " HTTP/1.1\r\nHost: localhost\r\nX-Client: " + client() + "\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            verifyRemainsCharged(policy);
        }
        if (answersADisconnectedClient()) { // another server could answer before it knows of the end of the connection
            release(root);
        }
    }

    /** The success status is already sent. */
    @Test
    default void interruptedStreamCountsByItsStatus() {
        String line = Http.raw(
                base(),
                "GET " + uri("api/success/broken").getPath() + " HTTP/1.1\r\nHost: localhost\r\nX-Client: " + client()
                        + "\r\n\r\n");
        assertThat(line).startsWith("HTTP/1.1 200");
        verifyRemaining("successes", 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    default void onlyWrongPasswordsCount(int logins) {
        for (int i = 0; i < logins; i++) {
            assertThat(login("secret")).isEqualTo(200);
        }
        assertThat(List.of(login("wrong"), login("wrong"))).containsOnly(401);
        assertThat(List.of(login("wrong"), login("secret"))).containsOnly(429);
    }

    private int login(String password) {
        HttpResponse<String> response = Http.post(
                uri("api/failure/login"),
                "application/x-www-form-urlencoded",
                "username=" + client() + "&password=" + password,
                fields());
        if (response.statusCode() == 200) {
            // The refund can follow after the response, and the next call would be rejected.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
        }
        return response.statusCode();
    }

    /** Verifies that the remaining permits reach a value and keep it. */
    private void verifyRemaining(String policy, long expected) {
        PolicyClient.eventually(() -> remaining(policy) == expected);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(30));
        assertThat(remaining(policy)).as(policy).isEqualTo(expected);
    }
}
