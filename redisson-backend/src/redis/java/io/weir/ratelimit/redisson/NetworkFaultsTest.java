// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.FaultProxy;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.spi.BackendException.Reason;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Faults of the network in front of an available Redis. */
@Tag("ci")
@Tag("fault")
class NetworkFaultsTest {
    private static final Duration A_WHILE = Duration.ofSeconds(3);

    private final RedisProcess redis = RedisProcess.started();
    private final FaultProxy proxy = FaultProxy.inFrontOf(redis);

    @AfterEach
    void disconnect() {
        proxy.close();
        redis.close();
    }

    @Test
    void latencyAboveTheDeadlineSpendsEachPermitAtMostOnce() {
        try (Scenario scenario = Scenario.of(Fault.SLOW, proxy.address())) {
            scenario.during(() -> {
                        proxy.delay(Duration.ofMillis(Scenario.FULL ? 250 : 500));
                        scenario.lasts(A_WHILE);
                        proxy.forward();
                    })
                    .recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.TIMEOUT);
        }
    }

    @Test
    void replacesDeadConnections() {
        try (Scenario scenario = Scenario.of(Fault.SILENT, proxy.address())) {
            scenario.during(() -> {
                proxy.blackhole();
                scenario.lasts(A_WHILE);
                proxy.forward();
            });
            Await.until(
                    "dead connections are closed", Duration.ofSeconds(30), () -> proxy.blackholedConnections() == 0);
            scenario.recovers();
            assertThat(scenario.load().failuresByReason()).containsKey(Reason.TIMEOUT);
        }
    }

    @Test
    void replacesConnectionsThatWereReset() {
        try (Scenario scenario = Scenario.of(Fault.CONNECTIONS_RESET, proxy.address())) {
            scenario.during(() -> {
                        int before = proxy.connections();
                        proxy.resetConnections();
                        scenario.lasts(A_WHILE);
                        Await.until(
                                "new connections are reset as well",
                                Duration.ofSeconds(30),
                                () -> proxy.connections() > before);
                        proxy.forward();
                    })
                    .recovers();
        }
    }
}
