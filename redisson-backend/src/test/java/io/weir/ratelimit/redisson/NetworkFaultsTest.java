// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Faults of the network in front of an available Redis. */
class NetworkFaultsTest {
    private static final Duration A_WHILE = Duration.ofSeconds(3);

    private final RedisProcess redis = RedisProcess.started();
    private final FaultProxy way = FaultProxy.inFrontOf(redis);

    @AfterEach
    void disconnect() {
        way.close();
        redis.close();
    }

    @Test
    void latencyAboveTheDeadlineSpendsEachPermitAtMostOnce() {
        try (Scenario scenario = Scenario.of(Fault.SLOW, way.address())) {
            scenario.during(() -> {
                        way.delay(Duration.ofMillis(250));
                        Scenario.lasts(A_WHILE);
                        way.forward();
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.TIMEOUT);
        }
    }

    @Test
    void replacesDeadConnections() {
        try (Scenario scenario = Scenario.of(Fault.DEAF, way.address())) {
            scenario.during(() -> {
                way.blackhole();
                Scenario.lasts(A_WHILE);
                way.forward();
            });
            Await.until("dead connections are closed", Duration.ofSeconds(5), () -> way.blackholedConnections() == 0);
            scenario.recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.TIMEOUT);
        }
    }

    @Test
    void replacesConnectionsThatWereReset() {
        try (Scenario scenario = Scenario.of(Fault.CUT, way.address())) {
            scenario.during(() -> {
                        way.resetConnections();
                        Scenario.lasts(A_WHILE);
                        scenario.load().awaitFailure(Reason.CONNECTION);
                        way.forward();
                    })
                    .recovers();
        }
    }
}
