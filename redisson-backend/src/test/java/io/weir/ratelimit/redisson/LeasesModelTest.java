// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Several instances with leases on one model of Redis: calls, slow and lost replies, refunds, resets, changed limits and crashes. */
class LeasesModelTest {
    private static final long SEED = Long.getLong("weir.test.seed", 1);
    private static final int SCENARIOS = Boolean.getBoolean("weir.test.full") ? 10_000 : 1_000;
    private static final List<Algorithm> ALGORITHMS =
            List.of(Algorithm.FIXED_WINDOW, Algorithm.SLIDING_WINDOW, Algorithm.TOKEN_BUCKET);
    private static final long[] WINDOWS = {50, 200, 1_000, 3_000, 60_000};
    private static final long[] PERMITS = {40, 300, 1_000, 20_000};

    private final Random random = new Random(SEED);

    @Test
    void neverAllowsMoreThanRedisHasCharged() {
        System.out.println("leases: -Dweir.test.seed=" + SEED);
        long leased = 0;
        long settled = 0;
        long refunded = 0;
        long reloaded = 0;
        for (int i = 0; i < SCENARIOS; i++) {
            LeaseScenario scenario = scenario("scenario " + i + " of -Dweir.test.seed=" + SEED);
            scenario.run();
            leased += scenario.leasedCalls();
            refunded += scenario.refunded();
            reloaded += scenario.reloaded();
            settled += scenario.isSettled() ? 1 : 0;
        }
        assertThat(leased).as("calls that were allowed from leases").isGreaterThan(SCENARIOS * 20L);
        assertThat(refunded).as("refunds").isGreaterThan(SCENARIOS * 10L);
        assertThat(reloaded).as("changed limits").isGreaterThan(SCENARIOS / 10);
        assertThat(settled)
                .as("scenarios at whose end all permits were refunded")
                .isGreaterThan(SCENARIOS / 20);
    }

    private LeaseScenario scenario(String title) {
        Algorithm algorithm = ALGORITHMS.get(random.nextInt(ALGORITHMS.size()));
        List<Limit> limits = new ArrayList<>();
        long permits = PERMITS[random.nextInt(PERMITS.length)];
        int first = random.nextInt(WINDOWS.length);
        limits.add(limit(algorithm, permits, WINDOWS[first]));
        if (first < WINDOWS.length - 1 && random.nextInt(3) == 0) {
            limits.add(limit(algorithm, permits * (1 + random.nextInt(4)), WINDOWS[first + 1]));
        }
        long lease = 1 + random.nextInt((int) Math.min(permits, 300));
        PolicyLimits policy = new PolicyLimits("api", limits).withLease(lease);
        return new LeaseScenario(title, new Charge(policy, "k.hot", 1), 1 + random.nextInt(4), random);
    }

    private Limit limit(Algorithm algorithm, long permits, long millis) {
        Duration window = Duration.ofMillis(millis);
        return algorithm == Algorithm.TOKEN_BUCKET
                ? Limit.of(algorithm, permits, window, 1 + random.nextInt((int) permits * 2))
                : Limit.of(algorithm, permits, window);
    }
}
