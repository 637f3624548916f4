// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.redisson.rejection.HotKeyDetector;
import io.weir.ratelimit.spi.BackendListener;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The number of leases that a listener receives, on a real Redis. */
@Tag("redis")
class LeasesGaugeTest {
    private static final Limit LIMIT = LeasedCalls.monthly(Algorithm.SLIDING_WINDOW, 100_000);
    private static final PolicyLimits POLICY = new PolicyLimits("api", List.of(LIMIT)).withLease(100);
    private static final int KEYS = 3;

    private final AtomicInteger leases = new AtomicInteger();
    private final String namespace = "test-" + UUID.randomUUID();
    private final RedissonBackend backend = new TestConfig(
                    Map.of(RedisSettings.ADDRESS, RedisFixture.shared().address(), "ratelimit.namespace", namespace))
            .started(new LeaseCountListener());

    private final class LeaseCountListener implements BackendListener {
        @Override
        public void onBatch(int requests, int waitingKeys) {}

        @Override
        public void onLeaseCount(int held) {
            leases.set(held);
        }
    }

    /** Calls each key often enough to make it hot, at once, so that the time of a round trip has no effect. */
    private void call() {
        List<CompletableFuture<Decision>> calls = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
            for (int i = 0; i < 2 * HotKeyDetector.HOT; i++) {
                Charge charge = new Charge(POLICY, "k." + key, 1);
                calls.add(backend.acquireAsync(List.of(charge)).toCompletableFuture());
            }
        }
        assertThat(calls).allSatisfy(call -> assertThat(call.join().allowed()).isTrue());
    }

    private void awaitLeases() {
        Await.until("there is a lease for each key", LeasedCalls.SOON, () -> {
            call();
            return leases.get() == KEYS;
        });
    }

    @Test
    void notifiesTheListenerOfLeasesUntilTheyAreIdleOrTheBackendIsClosed() {
        try {
            FaultCalls.awaitDecision(backend);
            awaitLeases();
            Await.until("idle leases are closed", LeasedCalls.SOON, () -> leases.get() == 0);
            awaitLeases();
        } finally {
            backend.close();
        }
        assertThat(leases).hasValue(0);
        try (RedisConnection redis = RedisFixture.shared().connect()) {
            redis.drop("weir:2:{" + namespace + ":*");
        }
    }
}
