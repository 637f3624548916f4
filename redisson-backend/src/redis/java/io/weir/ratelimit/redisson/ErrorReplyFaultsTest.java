// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestFolder;
import io.weir.ratelimit.fixtures.TestPorts;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A Redis that replies with errors. */
@Tag("fault")
class ErrorReplyFaultsTest {
    private static final Duration A_WHILE = Duration.ofSeconds(2);

    @Test
    void aRedisWithoutMemoryRejectsWritesUntilItHasMemory() {
        try (RedisProcess redis = RedisProcess.started("--maxmemory-policy", "noeviction");
                RedisConnection admin = redis.connect();
                Scenario scenario = Scenario.of(Fault.OUT_OF_MEMORY, redis.address())) {
            scenario.during(() -> {
                        admin.call("CONFIG", "SET", "maxmemory", "1");
                        scenario.lasts(A_WHILE);
                        scenario.load().awaitMessage("Redis answered OOM");
                        admin.call("CONFIG", "SET", "maxmemory", "0");
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.BACKEND_ERROR);
        }
    }

    @Test
    @Tag("ci")
    void aBusyRedisRejectsScriptsUntilTheOtherScriptIsKilled() {
        // Until the script exceeds its time limit, far beyond the deadline, Redis does not reply at all.
        try (RedisProcess redis = RedisProcess.started("--lua-time-limit", "1500");
                RedisConnection admin = redis.connect();
                Scenario scenario = Scenario.of(Fault.BUSY, redis.address())) {
            scenario.during(() -> {
                        CompletableFuture<Object> endless = CompletableFuture.supplyAsync(
                                () -> endlessScript(redis), task -> new Thread(task, "endless").start());
                        scenario.lasts(A_WHILE.multipliedBy(2));
                        awaitBusy(admin);
                        admin.call("SCRIPT", "KILL");
                        assertThat(endless.join().toString()).contains("killed");
                    })
                    .recovers();
            // With an open breaker, only probes see that Redis answers BUSY.
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.TIMEOUT);
        }
    }

    @Test
    void aCallOfABusyRedisFailsWithItsAnswer() {
        try (RedisProcess redis = RedisProcess.started("--lua-time-limit", "50");
                RedisConnection admin = redis.connect();
                RedissonBackend backend = new TestConfig(Map.of(RedisSettings.ADDRESS, redis.address()))
                        .withDeadline(FaultCalls.DEADLINE)
                        .started()) {
            FaultCalls.awaitDecision(backend);
            CompletableFuture<Object> endless = CompletableFuture.supplyAsync(
                    () -> endlessScript(redis), task -> new Thread(task, "endless").start());
            awaitBusy(admin);
            assertThat(FaultCalls.awaitFailure(backend, Reason.BACKEND_ERROR))
                    .hasMessageContaining("Redis answered BUSY");
            admin.call("SCRIPT", "KILL");
            assertThat(endless.join().toString()).contains("killed");
        }
    }

    private static void awaitBusy(RedisConnection admin) {
        Await.until(
                "Redis is busy",
                Duration.ofSeconds(30),
                () -> String.valueOf(answer(admin)).contains("BUSY"));
    }

    private static Object answer(RedisConnection admin) {
        try {
            return admin.call("GET", "any");
        } catch (IllegalStateException e) {
            return e;
        }
    }

    private static Object endlessScript(RedisProcess redis) {
        try (RedisConnection connection = redis.connect()) {
            return connection.call("EVAL", "while true do end", 0);
        } catch (IllegalStateException e) {
            return e;
        }
    }

    @Test
    @Tag("ci")
    void aRedisThatLoadsItsDataDecidesAfterwards() {
        // Redis loads each key in one millisecond. The keys have enough bytes that Redis replies meanwhile.
        int keys = Scenario.FULL ? 2_500 : 1_000;
        try (TestFolder folder = TestFolder.create();
                RedisProcess redis = RedisProcess.started(
                        "--dir", folder.path().toString(), "--rdbcompression", "no", "--key-load-delay", "1000");
                Scenario scenario = Scenario.of(Fault.LOADING, redis.address())) {
            try (RedisConnection admin = redis.connect()) {
                admin.call(
                        "EVAL",
                        "for i = 1, ARGV[1] do redis.call('SET', 'other.' .. i, string.rep('x', 40000)) end",
                        0,
                        keys);
            }
            scenario.during(() -> {
                        endWithItsData(redis);
                        redis.start();
                        try (RedisConnection admin = redis.connect()) {
                            Await.until(
                                    "Redis has loaded its data",
                                    Duration.ofSeconds(30),
                                    () -> admin.text("INFO", "persistence").contains("\nloading:0"));
                        }
                    })
                    .recovers();
            // Calls time out or fail with LOADING, depending on the part of the data that Redis loads.
            assertThat(scenario.load().failures()).isPositive();
        }
    }

    private static void endWithItsData(RedisProcess redis) {
        try (RedisConnection admin = redis.connect()) {
            admin.call("SHUTDOWN", "SAVE");
        } catch (UncheckedIOException e) {
            redis.awaitEnd();
        }
    }

    @Test
    void aReplicaRejectsWritesUntilItIsAMasterAgain() {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect();
                Scenario scenario = Scenario.of(Fault.READ_ONLY, redis.address())) {
            scenario.during(() -> {
                        // The master does not exist, so that the replica keeps its data.
                        admin.call("REPLICAOF", "127.0.0.1", TestPorts.next());
                        scenario.lasts(A_WHILE);
                        scenario.load().awaitMessage("Redis answered READONLY");
                        admin.call("REPLICAOF", "NO", "ONE");
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.BACKEND_ERROR);
        }
    }

    @Test
    @Tag("ci")
    void aChangedPasswordRejectsNewConnections() {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect();
                Scenario scenario = Scenario.of(Fault.PASSWORD_CHANGED, redis.address())) {
            scenario.during(() -> {
                        admin.call("CONFIG", "SET", "requirepass", "the-r1ght-secret");
                        // Authenticated connections stay authenticated.
                        admin.call("CLIENT", "KILL", "TYPE", "normal");
                        scenario.lasts(A_WHILE);
                        scenario.load().awaitMessage("Redis answered NOAUTH");
                        admin.call("CONFIG", "SET", "requirepass", "");
                    })
                    .recovers();
        }
    }

    @Test
    void retriesAWrongPasswordUntilItIsRight() {
        try (RedisProcess redis = RedisProcess.started("--requirepass", "an-0ther-secret");
                RedisConnection admin = RedisConnection.to(redis.address("an-0ther-secret"));
                Scenario scenario = Scenario.fromTheStart(Fault.PASSWORD_WRONG, redis.address("the-r1ght-secret"))) {
            scenario.until(() -> {
                        Scenario.lasts(A_WHILE, Duration.ZERO);
                        scenario.load().awaitFailure(Reason.BACKEND_ERROR);
                        admin.call("CONFIG", "SET", "requirepass", "the-r1ght-secret");
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason())
                    .containsKey(Reason.BACKEND_ERROR)
                    .doesNotContainKey(Reason.BREAKER_OPEN);
        }
    }

    @Test
    @Tag("ci")
    void aUserWithoutThePermissionForScriptsFailsUntilItIsGranted() {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect()) {
            admin.call((Object[]) DocumentedUser.line().split(" "));
            try (Scenario scenario = Scenario.of(Fault.PERMISSION_REMOVED, DocumentedUser.address(redis))) {
                scenario.during(() -> {
                            admin.call("ACL", "SETUSER", DocumentedUser.USER, "-evalsha");
                            scenario.lasts(A_WHILE);
                            scenario.load().awaitMessage("Redis answered NOPERM");
                            admin.call("ACL", "SETUSER", DocumentedUser.USER, "+evalsha");
                        })
                        .recovers();
                assertThat(scenario.load().failuresByReason()).containsKey(Reason.BACKEND_ERROR);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LOADING Redis is loading the dataset in memory",
                "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
                "READONLY You can't write against a read only replica.",
                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
                "OOM command not allowed when used memory > 'maxmemory'."
            })
    void reportsTheCodeOfAnErrorReplyAndDoesNotRetry(String error) {
        try (RedisProcess redis = RedisProcess.started();
                FaultProxy proxy = FaultProxy.inFrontOf(redis)) {
            RedissonBackend backend =
                    SelfTestEnd.awaited(() -> new TestConfig(Map.of(RedisSettings.ADDRESS, proxy.address())).started());
            try {
                FaultCalls.awaitDecision(backend);
                proxy.failScripts(error);
                long before = proxy.scripts();
                List<Charge> charges = List.of(TestBackend.charge("k.fault", 1, FaultCalls.LIMIT));
                BackendException failure = catchThrowableOfType(BackendException.class, () -> backend.acquire(charges));
                assertThat(failure.reason()).isEqualTo(Reason.BACKEND_ERROR);
                assertThat(failure).hasMessage("Redis answered " + error.substring(0, error.indexOf(' ')));
                assertThat(backend.acquireAsync(charges))
                        .failsWithin(Duration.ofSeconds(60))
                        .withThrowableOfType(ExecutionException.class)
                        .withCauseInstanceOf(BackendException.class)
                        .withMessageEndingWith(failure.getMessage());
                assertThat(proxy.scripts() - before).isEqualTo(2);
                proxy.forward();
                FaultCalls.awaitDecision(backend);
            } finally {
                backend.close();
            }
        }
    }
}
