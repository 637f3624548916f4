// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is charged only if a request ends one way or the other. Give-backs may come a moment after the answer. */
interface OutcomeContract extends PolicyClient {
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
    default void aChargeStaysIfTheOutcomeCounts(String path, int status) {
        boolean matched = !path.equals("nowhere");
        boolean succeeds = status < 400;
        for (int call = 1; call <= 2; call++) {
            assertThat(get("api/success/" + path).statusCode()).isEqualTo(status);
            assertThat(get("api/failure/" + path).statusCode()).isEqualTo(status);
            verifyLeft("successes", matched && succeeds ? 3 - call : 3);
            verifyLeft("failures", matched && !succeeds ? 3 - call : 3);
        }
    }

    @Test
    default void whoseOutcomesDoNotCountIsNeverRefused() {
        for (int i = 0; i < 10; i++) {
            assertThat(get("api/success/now/500").statusCode()).isEqualTo(500);
            verifyLeft("successes", 3);
            assertThat(get("api/failure/now/200").statusCode()).isEqualTo(200);
            verifyLeft("failures", 3);
        }
    }

    @Test
    default void whoseOutcomesCountIsRefusedAndTheRefusalIsNoOutcome() {
        assertThat(Http.statuses(5, uri("api/failure/now/401"), fields())).containsExactly(401, 401, 401, 429, 429);
        verifyLeft("failures", 0);
        assertThat(Http.statuses(5, uri("api/success/now/200"), fields())).containsExactly(200, 200, 200, 429, 429);
        verifyLeft("successes", 0);
    }

    @ParameterizedTest
    @CsvSource({
        "held/200, 2, 3",
        "held/500, 3, 2",
        "held/unmapped, 3, 2",
        "held-stage/200, 2, 3",
        "held-stage/500, 3, 2",
        "held-stage/unmapped, 3, 2"
    })
    default void anAnswerThatIsHeldIsChargedUntilItComes(String how, int successes, int failures) {
        verifyHeld("api/success/", "successes", how, successes);
        verifyHeld("api/failure/", "failures", how, failures);
    }

    private void verifyHeld(String root, String policy, String how, int left) {
        CompletableFuture<HttpResponse<String>> answer = Http.getAsync(uri(root + how), fields());
        verifyStaysCharged(policy);
        assertThat(answer).isNotDone();
        release(root);
        assertThat(answer.join().statusCode()).isEqualTo(how.endsWith("200") ? 200 : 500);
        verifyLeft(policy, left);
    }

    /** When its status is known, each server decides: when it begins, or with the first event. */
    @Test
    default void aStreamOfEventsIsASuccessAndNeverAFailure() {
        CompletableFuture<HttpResponse<String>> events = Http.getAsync(uri("api/success/held-events"), fields());
        verifyStaysCharged("successes");
        release("api/success/");
        assertThat(events.join().body()).contains("data: one");
        verifyLeft("successes", 2);

        CompletableFuture<HttpResponse<String>> others = Http.getAsync(uri("api/failure/held-events"), fields());
        release("api/failure/");
        assertThat(others.join().body()).contains("data: one");
        verifyLeft("failures", 3);
    }

    private void verifyStaysCharged(String policy) {
        assertThat(PolicyClient.comesTrue(() -> left(policy) == 2)).isTrue();
        // Long after the method has returned.
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
        assertThat(left(policy)).as(policy).isEqualTo(2);
    }

    private void release(String root) {
        assertThat(PolicyClient.comesTrue(() -> Http.post(uri(root + "release"), "text/plain", "", fields())
                        .body()
                        .equals("true")))
                .isTrue();
    }

    /** Its status has gone out, and said success. */
    @Test
    default void aStreamThatBreaksOffIsCountedByItsStatus() {
        String line = Http.raw(
                base(),
                "GET " + uri("api/success/broken").getPath() + " HTTP/1.1\r\nHost: localhost\r\nX-Client: " + client()
                        + "\r\n\r\n");
        assertThat(line).startsWith("HTTP/1.1 200");
        verifyLeft("successes", 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    default void wrongPasswordsCountForTheUserAndRightOnesDoNot(int logins) {
        for (int i = 0; i < logins; i++) {
            assertThat(login("secret")).isEqualTo(200);
        }
        assertThat(List.of(login("wrong"), login("wrong"))).containsOnly(401);
        assertThat(List.of(login("wrong"), login("secret"))).containsOnly(429);
    }

    private int login(String password) {
        HttpResponse<String> answer = Http.post(
                uri("api/failure/login"),
                "application/x-www-form-urlencoded",
                "username=" + client() + "&password=" + password,
                fields());
        if (answer.statusCode() == 200) {
            // The next call could be refused before the permit is back, so far as the client knows it.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
        }
        return answer.statusCode();
    }

    /** So much is left in the end, and stays so. */
    private void verifyLeft(String policy, long expected) {
        PolicyClient.comesTrue(() -> left(policy) == expected);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(30));
        assertThat(left(policy)).as(policy).isEqualTo(expected);
    }
}
