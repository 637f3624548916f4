// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.it.waiting.WaitingResource;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A request without a policy is served while 60 other requests call a partner with ten slots per second. Prints its latency.
 */
@Tag("server")
@Tag("long")
class WaitingLatencyIT {
    private static final int CALLERS = 60;

    @TempDir
    private Path temp;

    @Test
    void openLiberty() {
        measure(LibertyServer.named("latency-liberty"));
    }

    @Test
    void payaraMicro() {
        measure(PayaraServer.named("latency-payara"));
    }

    @Test
    void wildFly() {
        measure(WildFlyServer.named("latency-wildfly"));
    }

    private void measure(ServerBuilder<?> kind) {
        String configuration = String.join(
                "\n",
                "ratelimit.policies.partner.limit=10/1s",
                "ratelimit.policies.partner.algorithm=leaky-bucket",
                "ratelimit.policies.partner.key=method",
                "ratelimit.policies.partner.max-wait=2s",
                "ratelimit.policies.sixteen.limit=10/1s",
                "ratelimit.policies.sixteen.algorithm=leaky-bucket",
                "ratelimit.policies.sixteen.key=global",
                "ratelimit.policies.sixteen.max-wait=2s",
                "ratelimit.policies.sixteen.max-waiting=16",
                "ratelimit.policies.far.limit=1/1h",
                "ratelimit.policies.fast.limit=1/1h",
                "ratelimit.policies.window.limit=1/1h");
        try (Server server = kind.war(TestWar.written(
                        TestWar.libraries("latency.war")
                                .addPackage(WaitingResource.class.getPackage())
                                .addAsWebInfResource("waiting/web.xml", "web.xml")
                                .addAsResource(
                                        new StringAsset(configuration), "META-INF/microprofile-config.properties"),
                        temp))
                .readyPath("api/waiting")
                .start()) {
            URI uri = server.baseUri().resolve("api/waiting/");
            for (String form : List.of("sixteen", "thread", "stage", "suspended", "code")) {
                for (int warmUp = 0; warmUp < 20; warmUp++) {
                    Http.get(uri);
                }
                print(server, form, uri);
            }
        }
    }

    private static void print(Server server, String form, URI uri) {
        List<CompletableFuture<HttpResponse<String>>> calls = IntStream.range(0, CALLERS)
                .mapToObj(call -> Http.getAsync(uri.resolve("partner/" + form)))
                .toList();
        CompletableFuture<Void> all = CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new));
        long longest = 0;
        int exempt = 0;
        int overtaking = 0;
        while (!all.isDone()) {
            long start = System.nanoTime();
            assertThat(Http.get(uri).statusCode()).isEqualTo(200);
            longest = Math.max(longest, System.nanoTime() - start);
            exempt++;
            overtaking += all.isDone() ? 0 : 1;
        }
        assertThat(overtaking)
                .as("exempt requests served while %s calls wait", form)
                .isPositive();
        long allowed = calls.stream()
                .map(CompletableFuture::join)
                .filter(response ->
                        response.statusCode() == 200 && !response.body().equals("code false"))
                .count();
        System.out.printf(
                "waiting: %s %s: %d of %d allowed, longest of %d exempt requests %d ms%n",
                server.directory().getFileName(),
                form,
                allowed,
                CALLERS,
                exempt,
                TimeUnit.NANOSECONDS.toMillis(longest));
    }
}
