// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.it.hanging.HangingResource;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls are answered while a resolver of the application hangs. A call that hangs, too, fails by the timeout of the client. */
@Tag("server")
@Tag("ci")
class HangingResolverIT {
    private static final Duration DEADLINE = Duration.ofMillis(100);
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int MAX_THREADS = 8;

    /** The pool starts with few threads, and grows only slowly while they hang and the processors are busy. */
    private static final String ENOUGH_THREADS = "<server><executor coreThreads=\"" + 4 * MAX_THREADS + "\"/></server>";

    @TempDir
    private Path temp;

    @Test
    void openLiberty() {
        try (Server server = start(LibertyServer.named("hanging-liberty"))) {
            aTierResolverHangs(server);
        }
        try (Server server = start(LibertyServer.named("hanging-liberty").serverXml(ENOUGH_THREADS))) {
            aKeyResolverHangs(server);
        }
    }

    @Test
    void payaraMicro() {
        try (Server server = start(PayaraServer.named("hanging-payara"))) {
            aTierResolverHangs(server);
        }
    }

    @Test
    void wildFly() {
        try (Server server = start(WildFlyServer.named("hanging-wildfly"))) {
            aTierResolverHangs(server);
        }
    }

    private Server start(ServerBuilder<?> kind) {
        String configuration = String.join(
                "\n",
                "ratelimit.redis.deadline=" + DEADLINE.toMillis() + "ms",
                "ratelimit.policies.by-tier.limit=1000/1h",
                "ratelimit.policies.by-tier.key=ip",
                "ratelimit.policies.by-tier.tier=plans",
                "ratelimit.policies.by-tier.tiers.gold.limit=5000/1h",
                "ratelimit.policies.by-key.limit=1000/1h",
                "ratelimit.policies.by-key.key=tenant | ip");
        return kind.war(TestWar.written(
                        TestWar.libraries("hanging.war")
                                .addPackage(HangingResource.class.getPackage())
                                .addAsResource(
                                        new StringAsset(configuration), "META-INF/microprofile-config.properties"),
                        temp))
                .readyPath("api/hanging")
                .start();
    }

    private static void aTierResolverHangs(Server server) {
        URI uri = server.baseUri().resolve("api/hanging/tier");
        for (int caller = 0; caller < 3 * MAX_THREADS; caller++) {
            assertThat(limit(Http.get(uri, "X-Plan", "gold-" + caller))).isEqualTo("1000");
        }
        assertThat(
                        lines(
                                server,
                                "WEIR-310 TierResolver plans did not return the tier of a caller \\(no answer within 100 ms\\)"))
                .isOne();
        assertThat(lines(server, "WEIR-310")).isOne();

        assertThat(Http.post(server.baseUri().resolve("api/hanging"), "text/plain", "")
                        .statusCode())
                .isEqualTo(204);
        Await.until(
                "the tier applies",
                TIMEOUT,
                () -> limit(Http.get(uri, "X-Plan", "gold-0")).equals("5000"));
    }

    private static void aKeyResolverHangs(Server server) {
        URI uri = server.baseUri().resolve("api/hanging/key");
        List<CompletableFuture<HttpResponse<String>>> calls = IntStream.range(0, MAX_THREADS + 4)
                .mapToObj(call -> Http.getAsync(uri, "X-Tenant", "seven"))
                .toList();
        Await.until("four calls are answered", TIMEOUT, () -> answered(calls) == 4);
        assertThat(Http.get(uri).statusCode()).isEqualTo(200);
        assertThat(lines(server, "WEIR-305 KeyResolver tenant holds 8 request threads for longer than 100 ms"))
                .isOne();
        assertThat(answered(calls)).isEqualTo(4);

        assertThat(Http.post(server.baseUri().resolve("api/hanging"), "text/plain", "")
                        .statusCode())
                .isEqualTo(204);
        assertThat(calls)
                .allSatisfy(call -> assertThat(call.join().statusCode()).isEqualTo(200));
    }

    private static long answered(List<CompletableFuture<HttpResponse<String>>> calls) {
        return calls.stream().filter(CompletableFuture::isDone).count();
    }

    /** Returns the limit that applied to a call. */
    private static String limit(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(200);
        return LimitResponse.field(response, "RateLimit-Policy").replaceAll(".*;q=(\\d+);.*", "$1");
    }

    private static long lines(Server server, String pattern) {
        return Pattern.compile(pattern).matcher(server.log()).results().count();
    }
}
