// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A Redis that is well, and a way to it that is not. */
class NetworkFaultsTest {
    private static final Duration A_WHILE = Duration.ofSeconds(3);

    private final RedisProcess redis = RedisProcess.started();
    private final FaultProxy way = FaultProxy.before(redis);

    @AfterEach
    void disconnect() {
        way.close();
        redis.close();
    }

    @Test
    void latencyBeyondTheDeadlineSpendsEachPermitAtMostOnce() {
        try (Scenario scenario = Scenario.of(Fault.SLOW, way.address())) {
            scenario.during(() -> {
                        way.delay(Duration.ofMillis(250));
                        Scenario.lasts(A_WHILE);
                        way.open();
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.TIMEOUT);
        }
    }

    @Test
    void connectionsThatNeverAnswerAgainAreReplaced() {
        try (Scenario scenario = Scenario.of(Fault.DEAF, way.address())) {
            scenario.during(() -> {
                way.deafen();
                Scenario.lasts(A_WHILE);
                way.open();
            });
            Await.until(
                    "connections that answer no more are closed",
                    Duration.ofSeconds(5),
                    () -> way.deafConnections() == 0);
            scenario.recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.TIMEOUT);
        }
    }

    @Test
    void connectionsThatAreResetAreMadeAgain() {
        try (Scenario scenario = Scenario.of(Fault.CUT, way.address())) {
            scenario.during(() -> {
                        way.cut();
                        Scenario.lasts(A_WHILE);
                        scenario.load().awaitFailure(Reason.CONNECTION);
                        way.open();
                    })
                    .recovers();
        }
    }
}
