// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Permits taken ahead of a Redis that stops, and goes on. */
class LeasesInOutageTest {
    private static final Limit LIMIT = LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 100_000);

    @Test
    void permitsInMemoryAreSpentWhileRedisIsAwayAndLateAnswersSpendThemOnce() {
        try (RedisProcess process = RedisProcess.started();
                TestStore store =
                        TestStore.on(process.address(), FaultCalls.DEADLINE).ready()) {
            RedissonBackend watch = new RedissonBackend(store.client(), store.namespace(), Duration.ofSeconds(20));
            FaultCalls.awaitDecision(watch);
            LeasedCalls calls = new LeasedCalls(store.backend(), watch, LeasedCalls.charge(200, LIMIT));
            for (int outage = 0; outage < 3; outage++) {
                hot(calls);
                long before = calls.admitted();
                process.pause();
                int failed = 0;
                while (failed < 3) {
                    try {
                        calls.call();
                    } catch (BackendException e) {
                        failed++;
                    }
                }
                assertThat(calls.admitted()).as("spent from memory").isGreaterThan(before);
                process.resume();
                calls.mayHaveSpent(failed);
                FaultCalls.awaitDecision(store.backend());
            }
            calls.awaitGivenBackButForFailures();
        }
    }

    /** Where a machine is busy, a call can run into its deadline before the outage too. */
    private static void hot(LeasedCalls calls) {
        Await.until("permits are taken ahead", LeasedCalls.SOON, () -> {
            try {
                calls.hot();
                return true;
            } catch (BackendException e) {
                calls.mayHaveSpent(1);
                return false;
            }
        });
    }
}
