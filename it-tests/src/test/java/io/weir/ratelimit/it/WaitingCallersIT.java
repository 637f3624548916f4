// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.it.waiting.WaitingResource;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests that wait for permits without a thread. A request without an answer fails by the timeout of the client. */
@Tag("ci")
@Tag("server")
class WaitingCallersIT {
    private static final int CALLERS = 60;
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    /** More requests wait than the server has threads. */
    private static final String FEW_THREADS = "<server><executor coreThreads=\"4\" maxThreads=\"8\"/></server>";

    @TempDir
    private Path temp;

    @Test
    void openLiberty() {
        verify(LibertyServer.named("waiting-liberty").serverXml(FEW_THREADS));
    }

    @Test
    void payaraMicro() {
        verify(PayaraServer.named("waiting-payara"));
    }

    @Test
    void wildFly() {
        verify(WildFlyServer.named("waiting-wildfly"));
    }

    private void verify(ServerBuilder<?> kind) {
        String configuration = String.join(
                "\n",
                "ratelimit.policies.far.limit=" + CALLERS + "/1h",
                "ratelimit.policies.far.algorithm=leaky-bucket",
                "ratelimit.policies.far.key=method",
                "ratelimit.policies.far.max-wait=1h",
                "ratelimit.policies.fast.limit=20/1s",
                "ratelimit.policies.fast.algorithm=leaky-bucket",
                "ratelimit.policies.fast.key=query:key | global",
                "ratelimit.policies.fast.max-wait=1m",
                "ratelimit.policies.window.limit=1/5s",
                "ratelimit.policies.window.algorithm=fixed-window",
                "ratelimit.policies.window.key=method",
                "ratelimit.policies.window.max-wait=5100ms",
                "ratelimit.policies.partner.limit=1/1h",
                "ratelimit.policies.sixteen.limit=1/1h");
        try (Server server = kind.war(TestWar.written(
                        TestWar.libraries("waiting.war")
                                .addPackage(WaitingResource.class.getPackage())
                                .addAsWebInfResource("waiting/web.xml", "web.xml")
                                .addAsResource(
                                        new StringAsset(configuration), "META-INF/microprofile-config.properties"),
                        temp))
                .readyPath("api/waiting")
                .start()) {
            URI uri = server.baseUri().resolve("api/waiting/");
            for (String form : List.of("stage", "suspended")) {
                waitingCallsRunAtTheirSlots(uri, form);
                aCallIsRejectedAfterItsWait(uri, form);
            }
            otherRequestsAreAnsweredWhileCallsWait(uri);
            // A server that stops would wait for these calls.
            server.kill();
        }
    }

    private static List<CompletableFuture<HttpResponse<String>>> start(int calls, URI uri) {
        return IntStream.range(0, calls).mapToObj(call -> Http.getAsync(uri)).toList();
    }

    private static void waitingCallsRunAtTheirSlots(URI uri, String form) {
        long start = System.nanoTime();
        List<CompletableFuture<HttpResponse<String>>> calls =
                start(CALLERS, uri.resolve("fast/" + form + "?text=hello&key=" + form));
        for (CompletableFuture<HttpResponse<String>> call : calls) {
            HttpResponse<String> response = call.join();
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.body()).isEqualTo("Visit hello");
            assertThat(LimitResponse.policy(response)).isEqualTo("fast");
            assertThat(LimitResponse.remaining(response)).isZero();
        }
        assertThat(System.nanoTime() - start).as("one slot in 50 ms").isGreaterThan((CALLERS - 1) * 50_000_000L);
    }

    private static void aCallIsRejectedAfterItsWait(URI uri, String form) {
        List<HttpResponse<String>> responses = start(3, uri.resolve("window/" + form)).stream()
                .map(CompletableFuture::join)
                .toList();
        assertThat(responses).extracting(HttpResponse::statusCode).containsExactlyInAnyOrder(200, 200, 429);
        responses.stream()
                .filter(response -> response.statusCode() == 429)
                .forEach(rejected -> LimitResponse.verifyRejected(rejected, "window"));
    }

    private static void otherRequestsAreAnsweredWhileCallsWait(URI uri) {
        List<CompletableFuture<HttpResponse<String>>> waiting = List.of("stage", "suspended", "code").stream()
                .flatMap(form -> start(CALLERS, uri.resolve("far/" + form)).stream())
                .toList();
        Await.until("all calls have a slot", TIMEOUT, () -> Http.get(uri).body().equals("60 60 60"));
        Await.until(
                "the first call of each form, which does not wait, is answered",
                TIMEOUT,
                () -> waiting.stream().filter(CompletableFuture::isDone).count() >= 3);
        assertThat(waiting)
                .as("the second call of each form has its slot in a minute")
                .filteredOn(call -> !call.isDone())
                .hasSize(3 * (CALLERS - 1));
    }
}
