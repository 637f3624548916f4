// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RestraintTest {
    private static final Limit FAST = Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofSeconds(1));

    private final Restraint restraint = new Restraint(StoredKeys.of("test"));
    private long now = 1;

    private static Charge charge(long lease, long cost, Limit limit) {
        return new Charge(new PolicyLimits("api", List.of(limit)).withLease(lease), "p.ada", cost);
    }

    private static Decision.Rejected refusal(long retryAfterMicros) {
        return new Decision.Rejected(List.of(new Quota(
                "api", "api", 1_000, 1_000, Duration.ofSeconds(1), 0, true, retryAfterMicros, 1_000_000, 1_000)));
    }

    private void refuse(Charge charge, int times) {
        for (int i = 0; i < times; i++) {
            restraint.refused(charge, refusal(1_000), now);
        }
    }

    @Test
    void aKeyOfWhichFewCallsAreRefusedIsAskedAboutEachTime() {
        Charge charge = charge(100, 1, FAST);
        refuse(charge, Busyness.BUSY - 1);
        assertThat(restraint.refusal(charge, now)).isNull();
    }

    @Test
    void anOverloadedKeyWaitsUntilAPartOfALeaseHasReturned() {
        Charge charge = charge(40, 1, FAST);
        refuse(charge, Busyness.BUSY);
        now += 4_000_000;
        Decision.Rejected held = restraint.refusal(charge, now);
        assertThat(held).isNotNull();
        Quota quota = held.quotas().get(0);
        assertThat(quota.refused()).isTrue();
        assertThat(quota.retryAfterMicros())
                .as("10 permits return in 10 ms, 4 of which are over")
                .isBetween(6_000L, 6_001L);
        assertThat(quota.resetAfterMicros()).isEqualTo(996_000);
        now += quota.retryAfterMicros() * 1_000;
        assertThat(restraint.refusal(charge, now)).isNull();
    }

    @Test
    void nobodyIsHeldForLongerThanTwentyMilliseconds() {
        Charge slow = charge(400, 1, Limit.of(Algorithm.SLIDING_WINDOW, 1_000, Duration.ofDays(1)));
        refuse(slow, Busyness.BUSY);
        assertThat(restraint.refusal(slow, now + Restraint.LONGEST_NANOS - 1)).isNotNull();
        assertThat(restraint.refusal(slow, now + Restraint.LONGEST_NANOS)).isNull();
    }

    @Test
    void aCheaperCallAndOneUnderOtherLimitsAreAskedAbout() {
        Charge dear = charge(100, 5, FAST);
        refuse(dear, Busyness.BUSY);
        assertThat(restraint.refusal(charge(100, 6, FAST), now)).isNotNull();
        assertThat(restraint.refusal(charge(100, 4, FAST), now)).isNull();
        assertThat(restraint.refusal(charge(50, 5, FAST), now)).isNull();
    }

    @Test
    void aKeyToWhichPermitsComeBackIsAskedAbout() {
        Charge charge = charge(100, 1, FAST);
        refuse(charge, Busyness.BUSY);
        restraint.forget(charge);
        assertThat(restraint.refusal(charge, now)).isNull();
    }

    @Test
    void aCallThatNoWaitHelpsHoldsNobody() {
        Charge charge = charge(100, 1, FAST);
        for (int i = 0; i < 2 * Busyness.BUSY; i++) {
            restraint.refused(charge, refusal(Quota.NEVER), now);
        }
        assertThat(restraint.refusal(charge, now)).isNull();
    }
}
