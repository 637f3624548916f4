// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisProcess;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Leases during a pause of Redis. */
@Tag("fault")
class LeasesInOutageTest {
    private static final long LEASE = 200;
    private static final Limit LIMIT = LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 100_000);

    @Test
    void spendsLeasedPermitsDuringAnOutageAndEachPermitOnce() {
        ManualTimer timer = new ManualTimer();
        try (RedisProcess process = RedisProcess.started();
                TestBackend fixture = TestBackend.on(process.address(), FaultCalls.DEADLINE, timer)
                        .ready()) {
            RedissonBackend watch = fixture.another();
            LeasedCalls calls = new LeasedCalls(fixture.backend(), watch, LeasedCalls.charge(LEASE, LIMIT), timer::run);
            for (int outage = 0; outage < 3; outage++) {
                hot(calls);
                long before = calls.allowed();
                long start = System.nanoTime();
                process.pause();
                int failed = 0;
                while (failed < 3) {
                    try {
                        calls.call();
                    } catch (BackendException e) {
                        failed++;
                    }
                }
                assertThat(calls.allowed()).as("spent from the lease").isGreaterThan(before);
                process.resume();
                calls.recordFailed(failed);
                FaultCalls.awaitDecision(fixture.backend());
                // The permits of a request are lost if their answer is a second late, as the page about leases says.
                long seconds = Duration.ofNanos(System.nanoTime() - start).toSeconds();
                calls.recordLost(LEASE * seconds);
            }
            calls.awaitRefundsExceptOfFailedCalls();
            watch.close();
        }
    }

    /** Calls until the instance holds leased permits. On a busy machine a call may time out. */
    private static void hot(LeasedCalls calls) {
        Await.until("the instance holds leased permits", LeasedCalls.SOON, () -> {
            try {
                calls.hot();
                return true;
            } catch (BackendException e) {
                calls.recordFailed(1);
                return false;
            }
        });
    }
}
