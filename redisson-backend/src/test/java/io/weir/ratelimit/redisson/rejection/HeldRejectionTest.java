// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.rejection;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.redisson.client.RedisKeys;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The held rejections of overloaded keys of policies with leases. */
class HeldRejectionTest {
    private static final Limit FAST = Limit.of(Algorithm.TOKEN_BUCKET, 1_000, Duration.ofSeconds(1));

    private final RedisKeys keys = RedisKeys.of("test");
    private final RejectionCache cache = new RejectionCache(keys);
    private long now = 1;

    private static Charge charge(long lease, long cost, Limit limit) {
        return new Charge(new PolicyLimits("api", List.of(limit)).withLease(lease), "p.ada", cost);
    }

    private static Decision.Rejected rejection(long retryAfterMicros) {
        return new Decision.Rejected(Results.of(TestQuota.of(
                "api", "api", 1_000, 1_000, Duration.ofSeconds(1), 0, true, retryAfterMicros, 1_000_000, 1_000)));
    }

    private void reject(Charge charge, int times) {
        for (int i = 0; i < times; i++) {
            cache.recordRejection(charge, rejection(1_000), now);
        }
    }

    @Test
    void holdsNoRejectionOfAKeyWithFewRejections() {
        Charge charge = charge(100, 1, FAST);
        reject(charge, HotKeyDetector.HOT - 1);
        assertThat(cache.findHold(charge, now)).isEmpty();
    }

    @Test
    void holdsTheRejectionOfAnOverloadedKeyUntilAPartOfALeaseHasReturned() {
        Charge charge = charge(40, 1, FAST);
        reject(charge, HotKeyDetector.HOT);
        now += 4_000_000;
        assertThat(cache.findHold(charge, now)).isPresent();
        Quota quota = cache.findHold(charge, now).orElseThrow().quotas().get(0);
        assertThat(quota.rejected()).isTrue();
        assertThat(Micros.retryAfter(quota))
                .as("10 permits return in 10 ms, 4 of which have passed")
                .isBetween(6_000L, 6_001L);
        assertThat(Micros.resetAfter(quota)).isEqualTo(996_000);
        now += Micros.retryAfter(quota) * 1_000;
        assertThat(cache.findHold(charge, now)).isEmpty();
    }

    @Test
    void theRejectionOfABlockedKeyShowsTheRestOfTheBlock() {
        Charge charge = charge(400, 1, FAST);
        Quota blocked = TestQuota.of(
                "api",
                "api",
                1_000,
                1_000,
                Duration.ofSeconds(1),
                0,
                true,
                60_000_000,
                60_000_000,
                1,
                null,
                60_000_000);
        for (int i = 0; i < HotKeyDetector.HOT; i++) {
            cache.recordRejection(charge, new Decision.Rejected(Results.of(blocked)), now);
        }
        Decision.Rejected held = cache.findHold(charge, now + 4_000_000).orElseThrow();
        assertThat(Micros.blockedFor(held.decisiveQuota())).isEqualTo(59_996_000);
        assertThat(held.retryAfter()).contains(Duration.ofMillis(59_996));
    }

    @Test
    void aThreadThatHasReadAnEarlierTimeReportsNoBlock() {
        HeldRejection held = HeldRejection.of("key", charge(100, 1, FAST), rejection(1_000), now);
        Quota quota = held.rejection(now - 5_000_000).quotas().get(0);
        assertThat(quota.blocked()).isFalse();
        assertThat(Micros.blockedFor(quota)).isZero();
    }

    @Test
    void holdsNoRejectionForLongerThanTwentyMilliseconds() {
        Charge slow = charge(400, 1, Limit.of(Algorithm.SLIDING_WINDOW, 1_000, Duration.ofDays(1)));
        reject(slow, HotKeyDetector.HOT);
        assertThat(cache.findHold(slow, now + HeldRejection.MAX_NANOS - 1)).isPresent();
        assertThat(cache.findHold(slow, now + HeldRejection.MAX_NANOS)).isEmpty();
    }

    @Test
    void doesNotApplyToALowerCostOrToOtherLimits() {
        Charge expensive = charge(100, 5, FAST);
        reject(expensive, HotKeyDetector.HOT);
        assertThat(cache.findHold(charge(100, 6, FAST), now)).isPresent();
        assertThat(cache.findHold(charge(100, 4, FAST), now)).isEmpty();
        assertThat(cache.findHold(charge(50, 5, FAST), now)).isEmpty();
    }

    @Test
    void isRemovedWhenPermitsReturnToItsKey() {
        Charge charge = charge(100, 1, FAST);
        reject(charge, HotKeyDetector.HOT);
        cache.invalidate(keys.of(List.of(charge)));
        assertThat(cache.findHold(charge, now)).isEmpty();
    }

    @Test
    void holdsNoRejectionThatNoWaitEnds() {
        Charge charge = charge(100, 1, FAST);
        for (int i = 0; i < 2 * HotKeyDetector.HOT; i++) {
            cache.recordRejection(charge, rejection(Micros.NEVER), now);
        }
        assertThat(cache.findHold(charge, now)).isEmpty();
    }
}
