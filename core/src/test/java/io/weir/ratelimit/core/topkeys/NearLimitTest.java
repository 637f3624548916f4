// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.topkeys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.TopKeys;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.fixtures.TestQuota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The keys that are near a limit, the time for which they have been, and the highest utilization of the top keys. */
class NearLimitTest {
    private static final PolicyLimits API = policy("api", 100, Duration.ofMinutes(1));
    private static final PolicyLimits HOURLY = policy("hourly", 100, Duration.ofHours(1));

    private final KeyMasker masker = new KeyMasker(Optional.empty());
    private long nanos = -TimeUnit.MINUTES.toNanos(30);
    private final TopKeysTracker tracker = new TopKeysTracker(masker, () -> nanos);

    private static PolicyLimits policy(String name, long permits, Duration window) {
        return new PolicyLimits(name, List.of(Limit.of(Algorithm.FIXED_WINDOW, permits, window)));
    }

    private static Quota quota(PolicyLimits policy, long remaining, boolean rejected) {
        Limit limit = policy.limits().get(0);
        return TestQuota.of(
                policy.policy(),
                policy.policy(),
                limit.permits(),
                limit.permits(),
                Duration.ofNanos(limit.windowMicros() * 1_000),
                remaining,
                rejected,
                rejected ? 1 : 0,
                1,
                1);
    }

    private void allowed(PolicyLimits policy, String storedKey, long remaining) {
        tracker.decided(
                List.of(new Charge(policy, storedKey, 1)),
                new Decision.Allowed(Results.of(quota(policy, remaining, false)), Receipt.EMPTY),
                nanos);
    }

    private void rejected(PolicyLimits policy, String storedKey, long remaining) {
        tracker.decided(
                List.of(new Charge(policy, storedKey, 1)),
                new Decision.Rejected(Results.of(quota(policy, remaining, true))),
                nanos);
    }

    private void pass(Duration time) {
        nanos += time.toNanos();
    }

    private TopKeys.NearLimit near(String storedKey, Duration duration) {
        return new TopKeys.NearLimit(masker.of(storedKey), duration);
    }

    private List<TopKeys.NearLimit> nearLimit(PolicyLimits policy) {
        return tracker.top(policy.policy()).nearLimit();
    }

    @Test
    void aCallerOverNineTenthsOfItsLimitForAnHourIsFound() {
        for (int minute = 0; minute <= 60; minute++) {
            for (long remaining = 99; remaining >= 5; remaining--) {
                allowed(API, "p.heavy", remaining);
                allowed(API, "p.usual", remaining + 6);
            }
            if (minute < 60) {
                pass(Duration.ofMinutes(1));
            }
        }
        assertThat(nearLimit(API)).containsExactly(near("p.heavy", Duration.ofHours(1)));
        assertThat(tracker.longestNearLimit("api")).isEqualTo(Duration.ofHours(1));
        assertThat(tracker.top("api").active())
                .extracting(TopKeys.Entry::key, TopKeys.Entry::utilization)
                .containsExactlyInAnyOrder(tuple(masker.of("p.heavy"), 0.95), tuple(masker.of("p.usual"), 0.89));
    }

    @Test
    void nineTenthsAreNearAndLessIsNot() {
        allowed(API, "p.ann", 10);
        allowed(API, "p.bob", 11);
        assertThat(nearLimit(API)).containsExactly(near("p.ann", Duration.ZERO));
        assertThat(tracker.longestNearLimit("login")).isZero();
    }

    @Test
    void aPauseOfFiveMinutesContinuesTheTimeAndALongerOneEndsIt() {
        allowed(API, "p.ann", 0);
        pass(Duration.ofMinutes(5));
        rejected(API, "p.ann", 0);
        pass(Duration.ofMinutes(5));
        assertThat(nearLimit(API)).containsExactly(near("p.ann", Duration.ofMinutes(5)));
        pass(Duration.ofNanos(1));
        assertThat(nearLimit(API)).isEmpty();
        assertThat(tracker.longestNearLimit("api")).isZero();
        allowed(API, "p.ann", 0);
        assertThat(nearLimit(API)).containsExactly(near("p.ann", Duration.ZERO));
    }

    @Test
    void anHourlyLimitThatIsNearlySpentInEachHourCountsFromTheFirstToTheLastTime() {
        for (int hour = 0; hour < 3; hour++) {
            pass(Duration.ofMinutes(57));
            allowed(HOURLY, "p.ann", 8);
            pass(Duration.ofMinutes(3));
            allowed(HOURLY, "p.ann", 5);
        }
        assertThat(nearLimit(HOURLY)).containsExactly(near("p.ann", Duration.ofMinutes(123)));
    }

    @Test
    void aPauseIsAtMostAnHourForLongWindows() {
        PolicyLimits daily = policy("daily", 100, Duration.ofDays(1));
        allowed(daily, "p.ann", 8);
        pass(Duration.ofHours(1));
        assertThat(nearLimit(daily)).hasSize(1);
        pass(Duration.ofNanos(1));
        assertThat(nearLimit(daily)).isEmpty();
    }

    @Test
    void aLimitOfOnePermitIsNearOnlyIfItRejects() {
        PolicyLimits single = policy("single", 1, Duration.ofSeconds(1));
        PolicyLimits blocked = policy("blocked", 0, Duration.ofMinutes(1));
        allowed(single, "p.ann", 0);
        rejected(single, "p.bob", 0);
        rejected(blocked, "p.cid", 0);
        assertThat(nearLimit(single)).containsExactly(near("p.bob", Duration.ZERO));
        assertThat(nearLimit(blocked)).isEmpty();
        assertThat(tracker.top("single").active().get(0).utilization()).isEqualTo(1);
    }

    @Test
    void aBlockedKeyIsNotNearALimit() {
        LocalBackend backend = new LocalBackend(10, () -> 1);
        List<Charge> charges = List.of(new Charge(API, "p.ann", 20));
        tracker.decided(charges, backend.acquire(charges), nanos);
        backend.block(API, "p.ann", Duration.ofHours(1)).toCompletableFuture().join();
        tracker.decided(charges, backend.acquire(charges), nanos);
        assertThat(nearLimit(API)).isEmpty();
        assertThat(tracker.top("api").rejected()).hasSize(1);
        assertThat(tracker.top("api").active())
                .singleElement()
                .satisfies(top -> assertThat(top.utilization()).isEqualTo(0.2));
    }

    @Test
    void eachPolicyOfACallUsesItsOwnQuotas() {
        tracker.decided(
                List.of(new Charge(API, "p.ann", 1), new Charge(HOURLY, "p.ann", 1)),
                new Decision.Allowed(Results.of(quota(API, 60, false), quota(HOURLY, 4, false)), Receipt.EMPTY),
                nanos);
        tracker.decided(
                List.of(new Charge(API, "p.bob", 1), new Charge(HOURLY, "p.bob", 1)),
                new Decision.Rejected(Results.of(quota(API, 0, true), quota(HOURLY, 70, false))),
                nanos);
        assertThat(nearLimit(API)).containsExactly(near("p.bob", Duration.ZERO));
        assertThat(nearLimit(HOURLY)).containsExactly(near("p.ann", Duration.ZERO));
        assertThat(tracker.top("api").active())
                .extracting(TopKeys.Entry::utilization)
                .containsExactlyInAnyOrder(0.4, 1.0);
    }

    @Test
    void aKeyOfAPolicyInShadowModeIsFound() {
        List<Charge> charges = List.of(new Charge(HOURLY, "p.ann", 1).asShadow(), new Charge(API, "p.ann", 1));
        tracker.decided(
                charges,
                new Decision.Allowed(
                        Results.of(charges, List.of(quota(API, 60, false)), List.of(quota(HOURLY, 2, false))),
                        Receipt.EMPTY),
                nanos);
        assertThat(nearLimit(HOURLY)).containsExactly(near("p.ann", Duration.ZERO));
        assertThat(nearLimit(API)).isEmpty();
    }

    @Test
    void theUtilizationIsThatOfTheShownPeriod() {
        allowed(API, "p.ann", 20);
        pass(Duration.ofMinutes(5));
        allowed(API, "p.ann", 70);
        assertThat(tracker.top("api").active().get(0).utilization()).isEqualTo(0.8);
        pass(Duration.ofMinutes(5));
        assertThat(tracker.top("api").active().get(0).utilization()).isEqualTo(0.3);
    }

    @Test
    void aFloodOfKeysAtTheirLimitDoesNotDisplaceTheLongestTimes() {
        allowed(API, "p.ann", 0);
        pass(Duration.ofMinutes(2));
        allowed(API, "p.ann", 0);
        List<String> flood = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            flood.add("i." + i);
            rejected(API, "i." + i, 0);
        }
        assertThat(nearLimit(API)).hasSize(20).first().isEqualTo(near("p.ann", Duration.ofMinutes(2)));
        assertThat(flood.stream()
                        .filter(key -> tracker.storedKey("api", masker.of(key)).isPresent()))
                .hasSizeLessThan(3 * NearLimitKeys.KEYS);
        pass(Duration.ofMinutes(4));
        rejected(API, "p.ann", 0);
        rejected(API, "p.bob", 0);
        pass(Duration.ofMinutes(2));
        assertThat(nearLimit(API)).containsExactly(near("p.ann", Duration.ofMinutes(6)), near("p.bob", Duration.ZERO));
    }

    @Test
    void anOperatorCanLookUpAKeyNearItsLimit() {
        allowed(HOURLY, "p.ann", 0);
        pass(Duration.ofMinutes(30));
        assertThat(tracker.top("hourly").active()).isEmpty();
        String key = nearLimit(HOURLY).get(0).key();
        assertThat(key).doesNotContain("ann");
        assertThat(tracker.storedKey("hourly", key)).contains("p.ann");
    }

    @Test
    void aVeryLongKeyAndARemovedPolicyUseNoMemory() {
        allowed(API, "k.".repeat(SpaceSaving.LONGEST), 0);
        assertThat(nearLimit(API)).isEmpty();
        allowed(API, "p.ann", 0);
        tracker.retain(Set.of("login"));
        assertThat(nearLimit(API)).isEmpty();
        assertThat(tracker.longestNearLimit("api")).isZero();
    }
}
