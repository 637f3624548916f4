// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A Redis that answers, though not with a decision. */
class RefusalFaultsTest {
    private static final Duration A_WHILE = Duration.ofSeconds(2);

    @Test
    void aRedisWhoseMemoryIsFullRefusesToChargeUntilThereIsRoom() {
        try (RedisProcess redis = RedisProcess.started("--maxmemory-policy", "noeviction");
                RedisConnection admin = redis.connect();
                Scenario scenario = Scenario.of(Fault.OUT_OF_MEMORY, redis.address())) {
            scenario.during(() -> {
                        admin.call("CONFIG", "SET", "maxmemory", "1");
                        Scenario.lasts(A_WHILE);
                        scenario.load().awaitTold("Redis answered OOM");
                        admin.call("CONFIG", "SET", "maxmemory", "0");
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.REFUSED);
        }
    }

    @Test
    void aRedisThatIsBusyWithAnotherScriptRefusesUntilThatIsKilled() {
        // Until the time limit, well beyond the deadline, it does not answer at all.
        try (RedisProcess redis = RedisProcess.started("--lua-time-limit", "1500");
                RedisConnection admin = redis.connect();
                Scenario scenario = Scenario.of(Fault.BUSY, redis.address())) {
            scenario.during(() -> {
                        CompletableFuture<Object> endless = CompletableFuture.supplyAsync(
                                () -> endlessScript(redis), task -> new Thread(task, "endless").start());
                        Scenario.lasts(A_WHILE.multipliedBy(2));
                        scenario.load().awaitTold("Redis answered BUSY");
                        admin.call("SCRIPT", "KILL");
                        assertThat(endless.join().toString()).contains("killed");
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason()).containsKeys(Reason.REFUSED, Reason.TIMEOUT);
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
    void aRedisThatLoadsItsDataDecidesWhenItHas() {
        // Slow enough to be met: a thousand keys that take a millisecond each, and big enough that it answers
        // meanwhile.
        try (TestFolder folder = TestFolder.made();
                RedisProcess redis = RedisProcess.started(
                        "--dir", folder.path().toString(), "--rdbcompression", "no", "--key-load-delay", "1000");
                Scenario scenario = Scenario.of(Fault.LOADING, redis.address())) {
            try (RedisConnection admin = redis.connect()) {
                admin.call(
                        "EVAL", "for i = 1, 2500 do redis.call('SET', 'other.' .. i, string.rep('x', 40000)) end", 0);
            }
            scenario.during(() -> {
                        endWithItsData(redis);
                        redis.start();
                        try (RedisConnection admin = redis.connect()) {
                            Await.until(
                                    "it has loaded its data",
                                    Duration.ofSeconds(30),
                                    () -> admin.text("INFO", "persistence").contains("\nloading:0"));
                        }
                    })
                    .recovers();
            // Late or LOADING, as it happens to be between two pieces of its data.
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
    void aMasterThatIsMadeAReplicaRefusesToChargeUntilItIsAMasterAgain() {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect();
                Scenario scenario = Scenario.of(Fault.READ_ONLY, redis.address())) {
            scenario.during(() -> {
                        // Of a master that is not there, so that it keeps its data.
                        admin.call("REPLICAOF", "127.0.0.1", RedisProcess.freePort());
                        Scenario.lasts(A_WHILE);
                        scenario.load().awaitTold("Redis answered READONLY");
                        admin.call("REPLICAOF", "NO", "ONE");
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.REFUSED);
        }
    }

    @Test
    void aPasswordThatIsChangedLocksOutWhoeverConnectsAnewUntilItIsChangedBack() {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect();
                Scenario scenario = Scenario.of(Fault.PASSWORD_CHANGED, redis.address())) {
            scenario.during(() -> {
                        admin.call("CONFIG", "SET", "requirepass", "the-r1ght-secret");
                        // Who is in stays in.
                        admin.call("CLIENT", "KILL", "TYPE", "normal");
                        Scenario.lasts(A_WHILE);
                        scenario.load().awaitTold("Redis answered NOAUTH");
                        admin.call("CONFIG", "SET", "requirepass", "");
                    })
                    .recovers();
        }
    }

    @Test
    void aWrongPasswordAtTheStartIsTriedUntilItIsRight() {
        try (RedisProcess redis = RedisProcess.started("--requirepass", "an-0ther-secret");
                RedisConnection admin = RedisConnection.to(redis.address("an-0ther-secret"));
                Scenario scenario = Scenario.fromTheStart(Fault.PASSWORD_WRONG, redis.address("the-r1ght-secret"))) {
            scenario.until(() -> {
                        Scenario.lasts(A_WHILE);
                        admin.call("CONFIG", "SET", "requirepass", "the-r1ght-secret");
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason())
                    .containsKey(Reason.REFUSED)
                    .doesNotContainKey(Reason.BREAKER_OPEN);
        }
    }

    @Test
    void aUserWhoLosesTheRightToRunScriptsIsRefusedUntilItIsBack() {
        try (RedisProcess redis = RedisProcess.started();
                RedisConnection admin = redis.connect()) {
            admin.call((Object[]) LeastRights.line().split(" "));
            try (Scenario scenario = Scenario.of(Fault.RIGHT_TAKEN, LeastRights.address(redis))) {
                scenario.during(() -> {
                            admin.call("ACL", "SETUSER", LeastRights.USER, "-evalsha");
                            Scenario.lasts(A_WHILE);
                            scenario.load().awaitTold("Redis answered NOPERM");
                            admin.call("ACL", "SETUSER", LeastRights.USER, "+evalsha");
                        })
                        .recovers();
                assertThat(scenario.load().failuresByReason()).containsKey(Reason.REFUSED);
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
    void anErrorIsToldByItsCodeAndSentOnce(String error) {
        try (RedisProcess redis = RedisProcess.started();
                FaultProxy way = FaultProxy.before(redis)) {
            RedissonBackend backend = new TestConfig(Map.of(RedisSettings.ADDRESS, way.address())).started();
            try {
                FaultCalls.awaitDecision(backend);
                way.answerScripts(error);
                long before = way.scripts();
                BackendException told = FaultCalls.failure(backend);
                assertThat(told.reason()).isEqualTo(Reason.REFUSED);
                assertThat(told).hasMessage("Redis answered " + error.substring(0, error.indexOf(' ')));
                assertThat(FaultCalls.asyncFailure(backend)).hasMessage(told.getMessage());
                assertThat(way.scripts() - before).isEqualTo(2);
                way.open();
                FaultCalls.awaitDecision(backend);
            } finally {
                backend.close();
            }
        }
    }
}
