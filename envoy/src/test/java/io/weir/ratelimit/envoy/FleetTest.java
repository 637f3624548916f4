// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static io.weir.ratelimit.envoy.TestServer.descriptor;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.operations.OperationsPlugin;
import io.weir.ratelimit.operations.changes.ChangeRequest;
import io.weir.ratelimit.operations.changes.RuntimeChange;
import io.weir.ratelimit.operations.changes.RuntimeChanges;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The server as one instance of a fleet: its reports, and the runtime changes of operators. */
@Tag("redis")
@Timeout(180)
class FleetTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    private final Map<String, String> properties = TestServer.onRedis(Map.of(
            "ratelimit.policies.api.limit", "3/1h",
            "ratelimit.policies.api.key", "principal"));

    private static List<String> reports(TestServer server) {
        FleetStore store =
                server.server().weir().backend().capability(FleetStore.class).orElseThrow();
        return store.reports().toCompletableFuture().join().stream()
                .map(stored -> new String(stored.content().orElseThrow(), StandardCharsets.ISO_8859_1))
                .collect(Collectors.toList());
    }

    @Test
    void theServerReportsItself() throws Exception {
        properties.put("ratelimit.console.enabled", "true");
        properties.put("ratelimit.console.role", "operator");
        try (TestServer server = TestServer.of(properties)) {
            server.call("edge", descriptor("policy", "api", "principal", "ann"));
            Await.until(
                    "a report of the server",
                    SOON,
                    () -> reports(server).stream().anyMatch(report -> report.contains("weir-envoy")));
        }
    }

    @Test
    void aServerWithoutTheConsoleReportsNothing() throws Exception {
        try (TestServer server = TestServer.of(properties)) {
            server.call("edge", descriptor("policy", "api", "principal", "ann"));
            assertThat(reports(server)).isEmpty();
        }
    }

    private static RuntimeChanges changes(TestServer server) {
        return server.server()
                .weir()
                .plugin(OperationsPlugin.class)
                .operations()
                .changes()
                .orElseThrow();
    }

    private static RateLimitResponse.RateLimit limit(TestServer server) {
        return server.call("edge", descriptor("policy", "api", "principal", "ann"))
                .getStatuses(0)
                .getCurrentLimit();
    }

    /** The limits of a key can have slots, and the server does not learn when to release them. */
    @Test
    void theConcurrencyOfAKeyTakesNoSlot() throws Exception {
        properties.put("ratelimit.changes.enabled", "true");
        properties.put("ratelimit.changes.role", "operator");
        try (TestServer server = TestServer.of(properties)) {
            String key = server.server().weir().engine().encoder().encode(Identity.principal("ann"));
            changes(server)
                    .make(
                            new ChangeRequest(
                                    new RuntimeChange.Subject(RuntimeChange.Kind.OVERRIDE, "api", Optional.of(key)),
                                    Map.of("limit", "500/1h", "concurrency", "1"),
                                    Optional.empty(),
                                    "a customer",
                                    "alice"),
                            changes(server).view().tag());
            Await.until("the changed limit", SOON, () -> limit(server).getRequestsPerUnit() == 500);
            RateLimitDescriptor ann = descriptor("policy", "api", "principal", "ann");
            RateLimiter application = server.server().weir().limiter();
            Decision running = application.acquire("api", Identity.principal("ann"));
            for (int i = 0; i < 3; i++) {
                assertThat(server.call("edge", ann).getOverallCode()).isEqualTo(Code.OK);
            }
            assertThat(server.call("edge", TestServer.hits(0, ann)).getOverallCode())
                    .isEqualTo(Code.OK);
            assertThat(running.receipt().holdsSlots()).isTrue();
            application.release(running.receipt());
            assertThat(server.server().weir().engine().ends().slots().held("api"))
                    .isZero();
        }
    }

    @Test
    void aRuntimeChangeAppliesAtEachServer() throws Exception {
        properties.put("ratelimit.changes.enabled", "true");
        properties.put("ratelimit.changes.role", "operator");
        try (TestServer one = TestServer.of(properties);
                TestServer other = TestServer.of(properties)) {
            assertThat(limit(other).getRequestsPerUnit()).isEqualTo(3);
            RuntimeChange made = changes(one)
                    .make(
                            new ChangeRequest(
                                    new RuntimeChange.Subject(RuntimeChange.Kind.POLICY, "api", Optional.empty()),
                                    Map.of("limit", "500/1h"),
                                    Optional.empty(),
                                    "a campaign",
                                    "alice"),
                            changes(one).view().tag());
            Await.until("the changed limit", SOON, () -> limit(other).getRequestsPerUnit() == 500);
            assertThat(limit(one).getRequestsPerUnit()).isEqualTo(500);
            changes(one)
                    .undo(made.number(), "the end", "alice", changes(one).view().tag());
            Await.until(
                    "the limit of the configuration", SOON, () -> limit(other).getRequestsPerUnit() == 3);
        }
    }
}
