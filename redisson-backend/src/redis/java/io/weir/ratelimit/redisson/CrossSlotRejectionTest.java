// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.fixtures.ClusterFixture;
import io.weir.ratelimit.redisson.client.RedisSettings;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Cached rejections of calls over several slots. */
@Tag("redis")
class CrossSlotRejectionTest {
    private static final PolicyLimits API =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofHours(1))));

    @Test
    void anAllowedCallOverTheSameSlotsRemovesTheRejection() {
        ClusterFixture cluster = ClusterFixture.shared();
        RedissonBackend backend = new TestConfig(Map.of(
                        RedisSettings.ADDRESS, cluster.address(), "ratelimit.namespace", "test-" + UUID.randomUUID()))
                .started();
        try {
            FaultCalls.awaitDecision(backend);
            assertThat(acquire(backend, 7).allowed()).isTrue();
            assertThat(acquire(backend, 5).allowed()).isFalse();
            assertThat(acquire(backend, 3).allowed()).isTrue();
            Decision.Rejected rejected = (Decision.Rejected) acquire(backend, 5);
            assertThat(rejected.quotas()).allMatch(quota -> quota.remaining() == 0);
            assertThat(Micros.retryAfter(rejected.decisiveQuota()))
                    .isGreaterThan(Duration.ofMinutes(29).toNanos() / 1_000);
        } finally {
            backend.close();
        }
    }

    /** Spends permits of two keys in different slots. */
    private static Decision acquire(RedissonBackend backend, long cost) {
        return backend.acquire(List.of(new Charge(API, "k.a", cost), new Charge(API, "k.b", cost)));
    }
}
