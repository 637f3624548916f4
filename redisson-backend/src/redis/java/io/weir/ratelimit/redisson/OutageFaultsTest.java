// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.fixtures.TestFolder;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A Redis that is unavailable or paused for some time. */
@Tag("fault")
class OutageFaultsTest {
    private static final Duration A_WHILE = Duration.ofSeconds(2);

    @Test
    void anApplicationThatStartsWithoutRedisDecidesOnceItIsAvailable() {
        try (RedisProcess redis = RedisProcess.notStarted();
                Scenario scenario = Scenario.fromTheStart(Fault.ABSENT, redis.address())) {
            scenario.until(() -> {
                        Scenario.lasts(A_WHILE, Duration.ZERO);
                        scenario.load().awaitFailure(Reason.NOT_READY);
                        redis.start();
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason())
                    .containsKey(Reason.NOT_READY)
                    .doesNotContainKey(Reason.BREAKER_OPEN);
        }
    }

    @Test
    void aRestartWithDataSpendsEachPermitAtMostOnce() {
        try (TestFolder folder = TestFolder.create();
                RedisProcess redis = RedisProcess.started(
                        "--dir", folder.path().toString(), "--appendonly", "yes", "--appendfsync", "always");
                Scenario scenario = Scenario.of(Fault.KILLED, redis.address())) {
            scenario.during(() -> {
                        redis.kill();
                        scenario.lasts(A_WHILE);
                        scenario.load().awaitFailure(Reason.CONNECTION);
                        redis.start();
                    })
                    .recovers();
        }
    }

    @Test
    void aPausedRedisCostsOneDeadlinePerCall() {
        try (RedisProcess redis = RedisProcess.started();
                Scenario scenario = Scenario.of(Fault.STOPPED, redis.address())) {
            scenario.during(() -> {
                        redis.pause();
                        scenario.lasts(Duration.ofSeconds(60));
                        redis.resume();
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.TIMEOUT);
        }
    }
}
