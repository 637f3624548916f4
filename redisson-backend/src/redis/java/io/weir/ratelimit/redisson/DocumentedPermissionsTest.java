// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.operations.ChangeStore;
import io.weir.ratelimit.core.operations.FleetStore;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.redisson.client.RedisFailures;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The documented permissions suffice for all operations, and each of them is necessary. */
@Tag("redis")
class DocumentedPermissionsTest {

    static Stream<String> permissions() {
        return Arrays.stream(DocumentedUser.line().split(" ")).filter(word -> word.startsWith("+"));
    }

    @Test
    void theDocumentedPermissionsSuffice() {
        suffices(DocumentedUser.line());
    }

    @Test
    @Tag("field")
    void theAccessStringOfServicesSuffices() {
        suffices(DocumentedUser.lineOfServices());
    }

    private static void suffices(String line) {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            admin.call((Object[]) line.split(" "));
            runAll(List.of(admin), DocumentedUser.address(process));
            assertThat(denials(admin)).isEmpty();
        }
    }

    @Test
    @Tag("field")
    void aDatabaseNeedsExactlyOneMorePermission() {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            String address = DocumentedUser.address(process) + "/3";
            admin.call((Object[]) DocumentedUser.line().split(" "));
            assertThatExceptionOfType(BackendException.class)
                    .isThrownBy(() -> runAll(List.of(admin), address))
                    .withMessageContaining("NOPERM");
            assertThat(deniedCommands(admin)).containsOnly("select");
            admin.call("ACL", "SETUSER", DocumentedUser.USER, DocumentedUser.ofDatabase());
            admin.call("ACL", "LOG", "RESET");
            runAll(List.of(admin), address);
            assertThat(denials(admin)).isEmpty();
        }
    }

    /** Earlier versions did not need the permission. */
    @Test
    void reportsPresenceAndChangesWorkWithoutGetrange() {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            admin.call(Arrays.stream(DocumentedUser.line().split(" "))
                    .filter(word -> !word.equals("+getrange"))
                    .toArray());
            runAll(List.of(admin), DocumentedUser.address(process));
            assertThat(deniedCommands(admin)).containsOnly("getrange");
        }
    }

    @Test
    void theStartNeedsNoOtherPermission() {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            admin.call((Object[]) DocumentedUser.line().split(" "));
            RedissonBackend backend =
                    new TestConfig(Map.of(RedisSettings.ADDRESS, DocumentedUser.address(process))).started();
            try {
                Await.until(
                        "a connection",
                        Duration.ofSeconds(30),
                        () -> backend.status().initialized());
                assertThat(denials(admin)).isEmpty();
            } finally {
                backend.close();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("permissions")
    void eachPermissionIsNecessary(String permission) {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            admin.call(Arrays.stream(DocumentedUser.line().split(" "))
                    .filter(word -> !word.equals(permission))
                    .toArray());
            Throwable failure = catchThrowable(() -> runAll(List.of(admin), DocumentedUser.address(process)));
            if (permission.equals("+getrange")) {
                assertThat(failure).isNull();
            } else {
                assertIsMissingRight(failure);
            }
            assertThat(deniedCommands(admin))
                    .anyMatch(
                            command -> permission.equals("+" + command) || permission.startsWith("+" + command + "|"));
        }
    }

    private static void assertIsMissingRight(Throwable failure) {
        assertThat(failure)
                .isInstanceOfSatisfying(
                        BackendException.class, e -> assertThat(e.reason()).isEqualTo(Reason.BACKEND_ERROR));
        assertThat(failure).hasMessageContaining("NOPERM");
    }

    @Test
    void aRightThatIsRemovedLaterOpensTheBreaker() {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            admin.call((Object[]) DocumentedUser.line().split(" "));
            RedissonBackend backend = new TestConfig(Map.of(
                            RedisSettings.ADDRESS, DocumentedUser.address(process), "CircuitBreaker/enabled", "true"))
                    .withDeadline(FaultCalls.DEADLINE)
                    .started();
            try {
                FaultCalls.awaitDecision(backend);
                admin.call("ACL", "SETUSER", DocumentedUser.USER, "-get");
                assertIsMissingRight(FaultCalls.awaitFailure(backend, Reason.BACKEND_ERROR));
                FaultCalls.awaitFailure(backend, Reason.BREAKER_OPEN);
                admin.call("ACL", "SETUSER", DocumentedUser.USER, "+get");
                FaultCalls.awaitDecision(backend);
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void withoutTheRightToReadEachOperationFails() {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            admin.call((Object[]) DocumentedUser.line().split(" "));
            RedissonBackend backend =
                    new TestConfig(Map.of(RedisSettings.ADDRESS, DocumentedUser.address(process))).started();
            try {
                Charge charge =
                        TestBackend.charge("k.a", 1, FaultCalls.LIMIT, Limit.concurrency(2, Duration.ofMinutes(1)));
                Receipt receipt = backend.acquire(List.of(charge)).receipt();
                admin.call("ACL", "SETUSER", DocumentedUser.USER, "-get");
                assertIsMissingRight(catchThrowableOfType(BackendException.class, () -> backend.peek(List.of(charge))));
                for (CompletionStage<?> call : List.of(
                        backend.renew(List.of(receipt)),
                        backend.release(receipt),
                        backend.refund(receipt),
                        backend.block(charge.policy(), charge.storedKey(), Duration.ofMinutes(1)))) {
                    assertIsMissingRight(RedisFailures.unwrap(catchThrowable(call.toCompletableFuture()::join)));
                }
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void keysOfAnotherPrefixAreNotAccessible() {
        try (RedisProcess process = RedisProcess.started();
                RedisConnection admin = process.connect()) {
            admin.call((Object[])
                    DocumentedUser.line().replace("~weir:2:*", "~weir:1:*").split(" "));
            RedissonBackend backend = new TestConfig(Map.of(RedisSettings.ADDRESS, DocumentedUser.address(process)))
                    .withDeadline(FaultCalls.DEADLINE)
                    .started();
            try {
                assertThat(FaultCalls.awaitFailure(backend, Reason.BACKEND_ERROR))
                        .hasMessage("Redis at redis://127.0.0.1:" + process.port()
                                + " answered NOPERM, the user needs more rights");
            } finally {
                backend.close();
            }
        }
    }

    @Test
    void aClusterNeedsExactlyOneMorePermission() {
        ClusterFixture cluster = ClusterFixture.shared();
        String address = cluster.masters().stream().map(DocumentedUser::address).collect(Collectors.joining(","));
        List<RedisConnection> admins =
                cluster.masters().stream().map(RedisProcess::connect).toList();
        try {
            admins.forEach(admin -> admin.call((Object[]) DocumentedUser.line().split(" ")));
            assertThatExceptionOfType(BackendException.class).isThrownBy(() -> runAll(admins, address));
            assertThat(admins)
                    .anySatisfy(admin ->
                            assertThat(deniedCommands(admin)).anyMatch(command -> command.startsWith("cluster")));
            admins.forEach(admin -> admin.call("ACL", "SETUSER", DocumentedUser.USER, DocumentedUser.ofCluster()));
            admins.forEach(admin -> admin.call("ACL", "LOG", "RESET"));
            runAll(admins, address);
            assertThat(admins).allSatisfy(admin -> assertThat(denials(admin)).isEmpty());
        } finally {
            admins.forEach(admin -> admin.call("ACL", "DELUSER", DocumentedUser.USER));
            admins.forEach(RedisConnection::close);
        }
    }

    /** Runs each operation that sends another command. */
    private static void runAll(List<RedisConnection> admins, String address) {
        RedissonBackend backend = new TestConfig(
                        Map.of(RedisSettings.ADDRESS, address, "ratelimit.namespace", "acl-" + UUID.randomUUID()))
                .started();
        try {
            Charge charge = TestBackend.charge("k.a", 2, FaultCalls.LIMIT);
            Decision.Allowed allowed = (Decision.Allowed) backend.acquire(List.of(charge));
            backend.acquire(List.of(charge));
            backend.peek(List.of(charge));
            backend.refund(allowed.receipt()).toCompletableFuture().join();
            admins.forEach(admin -> admin.call("SCRIPT", "FLUSH"));
            backend.acquire(List.of(charge));
            backend.reset(List.of(charge.policy()), charge.storedKey());
            FleetStore reports = backend.capability(FleetStore.class).orElseThrow();
            reports.report("a1", new byte[] {1}, Map.of()).toCompletableFuture().join();
            assertThat(reports.reports().toCompletableFuture().join()).hasSize(1);
            FleetStore.Presence presence =
                    backend.capability(FleetStore.Presence.class).orElseThrow();
            assertThat(presence.present("a1").toCompletableFuture().join()).isEqualTo(1);
            ChangeStore changes = backend.capability(ChangeStore.class).orElseThrow();
            changes.replace("", new byte[] {'1', '-', '1', '\n'}, new byte[] {1})
                    .toCompletableFuture()
                    .join();
            assertThat(changes.read("").toCompletableFuture().join().tag()).isEqualTo("1-1");
        } finally {
            backend.close();
        }
    }

    private static List<String> deniedCommands(RedisConnection admin) {
        return denials(admin).stream()
                .filter(entry -> entry.get(entry.indexOf("reason") + 1).equals("command"))
                .map(entry -> entry.get(entry.indexOf("object") + 1))
                .toList();
    }

    /** Returns the entries of {@code ACL LOG}. */
    private static List<List<String>> denials(RedisConnection admin) {
        return ((List<?>) admin.call("ACL", "LOG"))
                .stream()
                        .map(entry -> ((List<?>) entry)
                                .stream()
                                        .map(word -> word instanceof byte[] text ? new String(text) : word + "")
                                        .toList())
                        .toList();
    }
}
