// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a call takes while Redis is stopped, from a store's first call on. */
class FirstCallTest {
    private static final int STORES = 10;
    private static final int CALLS = 10;

    @BeforeAll
    static void watch() {
        QuietTime.watch();
    }

    @ParameterizedTest(name = "connected before: {0}")
    @ValueSource(booleans = {true, false})
    void theFirstCallsOfAStoreWhoseRedisIsStoppedTakeADeadline(boolean connected) {
        long[] nanos = new long[STORES * CALLS];
        long[] first = new long[STORES];
        long[] quiet = new long[nanos.length];
        try (RedisProcess redis = RedisProcess.started()) {
            for (int store = 0; store < STORES; store++) {
                RedissonBackend backend = connected ? start(redis) : null;
                if (connected) {
                    FaultCalls.awaitDecision(backend);
                }
                redis.pause();
                backend = connected ? backend : start(redis);
                try {
                    for (int call = 0; call < CALLS; call++) {
                        long start = System.nanoTime();
                        fails(backend);
                        long end = System.nanoTime();
                        nanos[store * CALLS + call] = end - start;
                        quiet[store * CALLS + call] =
                                QuietTime.between(start, end).toNanos();
                    }
                    first[store] = nanos[store * CALLS];
                } finally {
                    redis.resume();
                    backend.close();
                }
            }
        }
        Arrays.sort(nanos);
        Arrays.sort(first);
        long p99 = FaultTable.percentile(nanos, 99);
        System.out.printf(
                "Redis stopped, %s: %d calls of %d new stores, deadline %d ms: median %s, p99 %s, longest %s ms; the first of each: median %s, longest %s ms%n",
                connected ? "after the store has connected" : "before the store has connected",
                nanos.length,
                STORES,
                FaultCalls.DEADLINE.toMillis(),
                FaultTable.millis(FaultTable.percentile(nanos, 50)),
                FaultTable.millis(p99),
                FaultTable.millis(nanos[nanos.length - 1]),
                FaultTable.millis(FaultTable.percentile(first, 50)),
                FaultTable.millis(first[first.length - 1]));
        Arrays.sort(quiet);
        assertThat(Duration.ofNanos(FaultTable.percentile(quiet, 99)))
                .isLessThan(FaultCalls.DEADLINE.plus(FaultCalls.MARGIN));
    }

    private static RedissonBackend start(RedisProcess redis) {
        return new TestConfig(Map.of(RedisSettings.ADDRESS, redis.address())).started();
    }

    private static void fails(RedissonBackend backend) {
        List<Charge> charges = List.of(TestStore.charge("k.first", 1, FaultCalls.LIMIT));
        assertThatThrownBy(() -> backend.acquire(charges)).isInstanceOf(BackendException.class);
    }
}
