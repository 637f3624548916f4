// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static io.weir.ratelimit.core.local.Keys.FIVE_AN_HOUR;
import static io.weir.ratelimit.core.local.Keys.ONE_A_SECOND;
import static io.weir.ratelimit.core.local.Keys.acquire;
import static io.weir.ratelimit.core.local.Keys.charge;
import static io.weir.ratelimit.core.local.Keys.exhaust;
import static io.weir.ratelimit.core.local.Keys.hasPlace;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class BoundedKeysTest {
    private final ManualTime time = new ManualTime();

    @Test
    void aFloodOfNewKeysDoesNotResetAnExhaustedKey() {
        int bound = 100_000;
        LocalBackend backend = new LocalBackend(bound, time);
        exhaust(backend, FIVE_AN_HOUR, "attacker");
        int allowed = 0;
        for (int i = 0; i < 1_000_000; i++) {
            if (hasPlace(backend, FIVE_AN_HOUR, "k." + i)) {
                allowed++;
            }
            if (backend.size() > bound) {
                assertThat(backend.size()).as("after %d keys", i).isLessThanOrEqualTo(bound);
            }
            if (i % 50_000 == 0) {
                assertThat(acquire(backend, FIVE_AN_HOUR, "attacker").allowed()).isFalse();
                time.advanceMicros(1);
            }
        }
        assertThat(allowed).isEqualTo(bound - 1);
        assertThat(backend.size()).isEqualTo(bound);
        assertThat(acquire(backend, FIVE_AN_HOUR, "attacker").allowed()).isFalse();
    }

    @Test
    void aFloodOfShortLivedKeysDoesNotResetAnExhaustedKey() {
        LocalBackend backend = new LocalBackend(1_000, time);
        exhaust(backend, FIVE_AN_HOUR, "attacker");
        int rejected = 0;
        for (int i = 0; i < 100_000; i++) {
            // Each key of the flood counts for a second, and 2,000 other keys arrive in that second.
            time.advanceMicros(500);
            rejected += hasPlace(backend, ONE_A_SECOND, "k." + i) ? 0 : 1;
            assertThat(backend.size()).isLessThanOrEqualTo(1_000);
        }
        assertThat(rejected).isBetween(40_000, 60_000);
        assertThat(acquire(backend, FIVE_AN_HOUR, "attacker").allowed()).isFalse();
    }

    @Test
    void newKeysFailAsFullUntilOtherKeysAreUntouched() {
        LocalBackend backend = new LocalBackend(3, time);
        for (String key : List.of("a", "b", "c")) {
            assertThat(acquire(backend, ONE_A_SECOND, key).allowed()).isTrue();
        }
        time.advanceMicros(999_999);
        assertThatThrownBy(() -> acquire(backend, ONE_A_SECOND, "d"))
                .asInstanceOf(type(BackendException.class))
                .satisfies(e -> {
                    assertThat(e.reason()).isEqualTo(BackendException.Reason.FULL);
                    assertThat(e).hasMessageContaining("3 keys").hasMessageContaining("ratelimit.local.max-keys");
                });
        time.advanceMicros(1);
        for (String key : List.of("d", "e", "f")) {
            assertThat(acquire(backend, ONE_A_SECOND, key).allowed()).isTrue();
        }
        assertThat(backend.size()).isEqualTo(3);
        assertThat(hasPlace(backend, ONE_A_SECOND, "g")).isFalse();
    }

    @Test
    void aCallDropsAFewKeysAndLaterCallsDropTheOthers() {
        int bound = 10_000;
        LocalBackend backend = new LocalBackend(bound, time);
        for (int i = 0; i < bound; i++) {
            assertThat(hasPlace(backend, FIVE_AN_HOUR, "k." + i)).isTrue();
        }
        time.advanceMicros(Duration.ofHours(3).toMillis() * 1_000);

        assertThat(hasPlace(backend, FIVE_AN_HOUR, "new.0")).isTrue();
        assertThat(backend.size()).isGreaterThan(bound - 500);
        for (int i = 1; i < bound; i++) {
            assertThat(hasPlace(backend, FIVE_AN_HOUR, "new." + i))
                    .as("key %d", i)
                    .isTrue();
        }
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "none")).isFalse();
        assertThat(backend.size()).isEqualTo(bound);
    }

    @Test
    void aKeyBehindManyChargedOnesIsFoundByALaterCall() {
        int bound = 10_000;
        LocalBackend backend = new LocalBackend(bound, time);
        for (int i = 0; i < bound; i++) {
            acquire(backend, FIVE_AN_HOUR, "k." + i);
        }
        time.advanceMicros(Duration.ofMinutes(11).toMillis() * 1_000);
        for (int i = 0; i < bound - 1; i++) {
            acquire(backend, FIVE_AN_HOUR, "k." + i);
        }
        time.advanceMicros(Duration.ofMinutes(2).toMillis() * 1_000);

        int calls = 1;
        while (!hasPlace(backend, FIVE_AN_HOUR, "new")) {
            calls++;
        }
        assertThat(calls).isLessThanOrEqualTo(10);
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "none")).isFalse();
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aClockThatStepsBackKeepsNoUntouchedKey(Algorithm algorithm) {
        Duration minute = Duration.ofMinutes(1);
        Limit limit = algorithm == Algorithm.LEAKY_BUCKET
                ? Limit.of(algorithm, 1, minute, 1)
                : Limit.of(algorithm, 1, minute);
        keepsNoUntouchedKeyAfterAStepBack(new PolicyLimits("api", List.of(limit)));
    }

    @Test
    void aClockThatStepsBackKeepsNoUntouchedKeyOfACalendarLimit() {
        Limit limit = Limit.of(1, new CalendarPeriod(CalendarPeriod.Unit.MINUTE, ZoneId.of("UTC"), 1));
        keepsNoUntouchedKeyAfterAStepBack(new PolicyLimits("api", List.of(limit)));
    }

    private void keepsNoUntouchedKeyAfterAStepBack(PolicyLimits policy) {
        time.advanceMicros(Duration.ofHours(10).toMillis() * 1_000);
        int bound = 10_000;
        LocalBackend backend = new LocalBackend(bound, time);
        for (int i = 0; i < bound; i++) {
            assertThat(hasPlace(backend, policy, "k." + i)).isTrue();
        }
        for (int step = 1; step <= 2; step++) {
            time.advanceMicros(-Duration.ofHours(1).toMillis() * 1_000);
            assertThat(hasPlace(backend, policy, "early")).isFalse();
            // Two windows: a sliding window counts its previous one.
            time.advanceMicros(Duration.ofMinutes(2).toMillis() * 1_000);
            for (int i = 0; i < bound; i++) {
                assertThat(hasPlace(backend, policy, step + "." + i))
                        .as("key %d after step %d", i, step)
                        .isTrue();
            }
            assertThat(backend.size()).isEqualTo(bound);
        }
    }

    @Test
    void aClockThatStepsBackDoesNotKeepKeysFromBlocksAndPenalties() {
        LocalBackend backend = new LocalBackend(1, time);
        Duration minute = Duration.ofMinutes(1);
        PenaltyRule rule = new PenaltyRule(2, minute, minute, 2, Duration.ofDays(1));
        time.advanceMicros(Duration.ofHours(10).toMillis() * 1_000);
        backend.countRejections(FIVE_AN_HOUR, "a", 1, rule)
                .toCompletableFuture()
                .join();
        assertThat(backend.countRejections(FIVE_AN_HOUR, "b", 2, rule)
                        .toCompletableFuture()
                        .join())
                .isEmpty();
        backend.block(ONE_A_SECOND, "a", minute).toCompletableFuture().join();
        assertThat(backend.block(ONE_A_SECOND, "b", minute).toCompletableFuture())
                .isCompletedExceptionally();
        backend.unblock(ONE_A_SECOND, "a").toCompletableFuture().join();

        time.advanceMicros(-Duration.ofHours(1).toMillis() * 1_000);
        assertThat(backend.countRejections(FIVE_AN_HOUR, "b", 2, rule)
                        .toCompletableFuture()
                        .join())
                .isPresent();
        backend.unblock(FIVE_AN_HOUR, "b").toCompletableFuture().join();
        assertThat(backend.block(ONE_A_SECOND, "b", minute).toCompletableFuture())
                .isCompletedWithValue(minute);
    }

    @Test
    void asynchronousAcquiresFailAsFullToo() {
        LocalBackend backend = new LocalBackend(1, time);
        acquire(backend, ONE_A_SECOND, "a");
        assertThatThrownBy(() -> backend.acquireAsync(List.of(charge(ONE_A_SECOND, "b")))
                        .toCompletableFuture()
                        .join())
                .isInstanceOf(CompletionException.class)
                .cause()
                .asInstanceOf(type(BackendException.class))
                .extracting(BackendException::reason)
                .isEqualTo(BackendException.Reason.FULL);
    }

    @Test
    void knownKeysAreDecidedIfTheBackendIsFull() {
        LocalBackend backend = new LocalBackend(2, time);
        acquire(backend, FIVE_AN_HOUR, "a");
        acquire(backend, FIVE_AN_HOUR, "b");
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "c")).isFalse();
        for (int left = 3; left >= 0; left--) {
            assertThat(acquire(backend, FIVE_AN_HOUR, "a").quotas().get(0).remaining())
                    .isEqualTo(left);
        }
        assertThat(acquire(backend, FIVE_AN_HOUR, "a").allowed()).isFalse();
    }

    @Test
    void onlyUntouchedKeysAreDropped() {
        LocalBackend backend = new LocalBackend(10, time);
        for (int i = 0; i < 5; i++) {
            exhaust(backend, FIVE_AN_HOUR, "long." + i);
            exhaust(backend, ONE_A_SECOND, "short." + i);
        }
        time.advanceMicros(1_000_000);
        for (int i = 0; i < 5; i++) {
            assertThat(hasPlace(backend, ONE_A_SECOND, "new." + i)).isTrue();
        }
        assertThat(hasPlace(backend, ONE_A_SECOND, "one too many")).isFalse();
        for (int i = 0; i < 5; i++) {
            assertThat(acquire(backend, FIVE_AN_HOUR, "long." + i).allowed()).isFalse();
        }
    }

    @Test
    void aKeyIsKeptUntilThePermitsOfItsLastChargeHaveReturned() {
        PolicyLimits tenASecond = Keys.policy("ten", 10, Duration.ofSeconds(10));
        LocalBackend backend = new LocalBackend(1, time);
        acquire(backend, tenASecond, "a");
        time.advanceMicros(999_999);
        acquire(backend, tenASecond, "a");
        time.advanceMicros(1);
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        time.advanceMicros(999_999);
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        time.advanceMicros(1);
        assertThat(hasPlace(backend, tenASecond, "b")).isTrue();
    }

    @Test
    void aKeyOfAFixedWindowIsDroppedAfterTheWindow() {
        PolicyLimits tenASecond =
                new PolicyLimits("ten", List.of(Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofSeconds(1))));
        LocalBackend backend = new LocalBackend(1, time);
        acquire(backend, tenASecond, "a");
        for (int call = 0; call < 9; call++) {
            time.advanceMicros(111_111);
            acquire(backend, tenASecond, "a");
        }
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        time.advanceMicros(1);
        assertThat(hasPlace(backend, tenASecond, "b")).isTrue();
        assertThat(backend.size()).isEqualTo(1);
    }

    @Test
    void aKeyOfALogIsDroppedOneWindowAfterItsLastCharge() {
        PolicyLimits tenASecond =
                new PolicyLimits("ten", List.of(Limit.of(Algorithm.SLIDING_LOG, 10, Duration.ofSeconds(1))));
        LocalBackend backend = new LocalBackend(1, time);
        acquire(backend, tenASecond, "a");
        time.advanceMicros(600_000);
        Receipt receipt = ((Decision.Allowed) acquire(backend, tenASecond, "a")).receipt();
        time.advanceMicros(399_999);
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        backend.refund(receipt).toCompletableFuture().join();
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        acquire(backend, tenASecond, "a");
        time.advanceMicros(999_999);
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        time.advanceMicros(1);
        assertThat(hasPlace(backend, tenASecond, "b")).isTrue();
        assertThat(backend.size()).isEqualTo(1);
    }

    @Test
    void aRejectedCallNeedsNoPlace() {
        LocalBackend backend = new LocalBackend(1, time);
        Charge tooExpensive = new Charge(FIVE_AN_HOUR, "a", 6);
        assertThat(backend.acquire(List.of(tooExpensive)).allowed()).isFalse();
        assertThat(backend.size()).isZero();
        acquire(backend, FIVE_AN_HOUR, "b");
        assertThat(backend.acquire(List.of(tooExpensive))).isInstanceOf(Decision.Rejected.class);
    }

    @Test
    void peekNeedsNoPlace() {
        LocalBackend backend = new LocalBackend(1, time);
        assertThat(backend.peek(List.of(charge(FIVE_AN_HOUR, "a"))).get(0).remaining())
                .isEqualTo(5);
        assertThat(backend.size()).isZero();
        acquire(backend, FIVE_AN_HOUR, "b");
        assertThat(backend.peek(List.of(charge(FIVE_AN_HOUR, "a"))).get(0).remaining())
                .isEqualTo(5);
    }

    @Test
    void anAcquireWithTooFewPlacesSpendsNothing() {
        LocalBackend backend = new LocalBackend(2, time);
        acquire(backend, FIVE_AN_HOUR, "known");
        List<Charge> charges =
                List.of(charge(FIVE_AN_HOUR, "known"), charge(FIVE_AN_HOUR, "new.1"), charge(FIVE_AN_HOUR, "new.2"));
        assertThatThrownBy(() -> backend.acquire(charges)).isInstanceOf(BackendException.class);
        assertThat(backend.size()).isEqualTo(1);
        assertThat(backend.peek(List.of(charge(FIVE_AN_HOUR, "known"))).get(0).remaining())
                .isEqualTo(4);
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "new.1")).isTrue();
    }

    @Test
    void refundAndResetFreeThePlace() {
        LocalBackend backend = new LocalBackend(2, time);
        Receipt receipt = ((Decision.Allowed) acquire(backend, FIVE_AN_HOUR, "a")).receipt();
        exhaust(backend, FIVE_AN_HOUR, "b");
        backend.refund(receipt).toCompletableFuture().join();
        assertThat(backend.size()).isEqualTo(1);
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "c")).isTrue();
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "d")).isFalse();
        backend.reset(List.of(FIVE_AN_HOUR), "b");
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "d")).isTrue();
        backend.refund(charge(FIVE_AN_HOUR, "d")).toCompletableFuture().join();
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "e")).isTrue();
        assertThat(backend.size()).isEqualTo(2);
    }

    @Test
    void aPartialRefundKeepsThePlaceAndShortensItsTime() {
        LocalBackend backend = new LocalBackend(1, time);
        PolicyLimits tenASecond = Keys.policy("ten", 10, Duration.ofSeconds(10));
        exhaust(backend, tenASecond, "a");
        backend.refund(new Charge(tenASecond, "a", 9)).toCompletableFuture().join();
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        time.advanceMicros(1_000_000);
        assertThat(hasPlace(backend, tenASecond, "b")).isTrue();
    }

    @Test
    void aRefundToAnUnknownKeyNeedsNoPlace() {
        LocalBackend backend = new LocalBackend(1, time);
        backend.refund(charge(FIVE_AN_HOUR, "a")).toCompletableFuture().join();
        backend.reset(List.of(FIVE_AN_HOUR), "a");
        assertThat(backend.size()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void rejectsABoundBelowOne(int bound) {
        assertThatThrownBy(() -> new LocalBackend(bound)).hasMessage("maxKeys must be at least 1");
    }

    @Test
    void aShadowChargeWithoutAPlaceIsLeftOut() {
        LocalBackend backend = new LocalBackend(2, time);
        exhaust(backend, FIVE_AN_HOUR, "one");
        Charge known = charge(FIVE_AN_HOUR, "two");
        Charge unknown = charge(FIVE_AN_HOUR, "three");
        for (List<Charge> charges : List.of(List.of(unknown.asShadow(), known), List.of(known, unknown.asShadow()))) {
            Decision.Allowed decision = (Decision.Allowed) backend.acquire(charges);
            assertThat(decision.results())
                    .extracting(
                            result -> result.shadow(), result -> result.quotas().size())
                    .containsExactlyElementsOf(charges.stream()
                            .map(charge -> tuple(charge.shadow(), charge.shadow() ? 0 : 1))
                            .toList());
        }
        assertThat(backend.size()).isEqualTo(2);
        assertThatThrownBy(() -> backend.acquire(List.of(unknown.asShadow())))
                .asInstanceOf(type(BackendException.class))
                .returns(BackendException.Reason.FULL, BackendException::reason);
    }
}
