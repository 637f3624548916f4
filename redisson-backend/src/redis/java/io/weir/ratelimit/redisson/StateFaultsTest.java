// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A Redis that loses scripts, or whose keys another client overwrites. */
@Tag("fault")
class StateFaultsTest {
    private static final int FLUSHES = 30;

    private final RedisProcess redis = RedisProcess.started();
    private final RedisConnection admin = redis.connect();

    @AfterEach
    void disconnect() {
        admin.close();
        redis.close();
    }

    @Test
    void repeatedLossOfScriptsFailsNoDecision() {
        try (Scenario scenario = Scenario.of(Fault.FLUSHED, redis.address())) {
            scenario.during(() -> {
                        for (int flush = 0; flush < FLUSHES; flush++) {
                            admin.call("SCRIPT", "FLUSH");
                            Scenario.lasts(Duration.ofMillis(100), Duration.ofMillis(30));
                        }
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason()).doesNotContainKeys(Reason.BACKEND_ERROR, Reason.CONNECTION);
        }
    }

    @Test
    void aForeignValueFailsOnlyTheCallsOfItsKeyAndIsKept() {
        try (Scenario scenario = Scenario.of(Fault.FOREIGN, redis.address())) {
            String key = scenario.key();
            scenario.during(() -> {
                        admin.call(
                                "EVAL",
                                "redis.call('RENAME', KEYS[1], KEYS[2]) redis.call('RPUSH', KEYS[1], 'a')",
                                2,
                                key,
                                "kept");
                        Scenario.lasts(Duration.ofSeconds(1), Duration.ZERO);
                        scenario.load().awaitFailure(Reason.FOREIGN_STATE);
                        assertThat(admin.number("LLEN", key)).isEqualTo(1);
                        admin.call("SET", key, "not the state of a limit");
                        Scenario.lasts(Duration.ofSeconds(1), Duration.ZERO);
                        scenario.load().awaitMoreFailures();
                        assertThat(admin.text("GET", key)).isEqualTo("not the state of a limit");
                        admin.call("RENAME", "kept", key);
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason())
                    .containsKey(Reason.FOREIGN_STATE)
                    .doesNotContainKey(Reason.BREAKER_OPEN);
            assertThat(scenario.scarce().failuresByReason()).doesNotContainKey(Reason.FOREIGN_STATE);
        }
    }
}
