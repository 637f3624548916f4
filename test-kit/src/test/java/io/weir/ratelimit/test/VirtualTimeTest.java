// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.test;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** With the clock of the kit, the backend in process decides as with the clock of the contract. */
class VirtualTimeTest {
    private static final Instant START = Instant.parse("2026-01-31T23:50:00Z");
    private static final long SEED = Long.getLong("weir.test.seed", 1);

    static List<Limit> limits() {
        return List.of(
                Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofSeconds(10)),
                Limit.of(Algorithm.SLIDING_WINDOW, 5, Duration.ofSeconds(10)),
                Limit.of(Algorithm.SLIDING_LOG, 5, Duration.ofSeconds(10)),
                Limit.of(Algorithm.TOKEN_BUCKET, 5, Duration.ofSeconds(10), 8),
                Limit.of(Algorithm.LEAKY_BUCKET, 5, Duration.ofSeconds(10)),
                Limit.of(5, new CalendarPeriod(CalendarPeriod.Unit.MINUTE, ZoneOffset.UTC, 1)));
    }

    @ParameterizedTest
    @MethodSource("limits")
    void decidesEqually(Limit limit) {
        System.out.println("VirtualTimeTest " + limit + ": -Dweir.test.seed=" + SEED);
        Random random = new Random(SEED);
        TestEnvironment environment = new TestEnvironment(START);
        RateLimitBackend virtual = environment.local(1_000);
        Instant origin = Instant.parse("2025-01-01T00:00:00Z");
        RateLimitBackend expected = new LocalBackend(
                1_000, () -> Duration.between(origin, environment.clock().now()).toNanos() / 1_000);
        PolicyLimits policy = new PolicyLimits("api", List.of(limit));
        int rejected = 0;
        for (int i = 0; i < 2_000; i++) {
            Charge charge = new Charge(policy, "k" + random.nextInt(3), 1 + random.nextInt(2));
            Decision decision = virtual.acquire(List.of(charge));
            Decision other = expected.acquire(List.of(charge));
            assertThat(decision.allowed()).isEqualTo(other.allowed());
            assertThat(decision.quotas()).isEqualTo(other.quotas());
            rejected += decision.allowed() ? 0 : 1;
            environment.clock().advance(Duration.ofNanos(random.nextLong(2_000_000) * 1_000));
        }
        assertThat(rejected).isBetween(100, 1_900);
    }
}
