// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.interceptor.local;

import static io.weir.ratelimit.interceptor.local.Keys.FIVE_AN_HOUR;
import static io.weir.ratelimit.interceptor.local.Keys.ONE_A_SECOND;
import static io.weir.ratelimit.interceptor.local.Keys.acquire;
import static io.weir.ratelimit.interceptor.local.Keys.charge;
import static io.weir.ratelimit.interceptor.local.Keys.exhaust;
import static io.weir.ratelimit.interceptor.local.Keys.hasPlace;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.ManualTime;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BoundedKeysTest {
    private final ManualTime time = new ManualTime();

    @Test
    void aFloodOfNewKeysNeverLetsAnExhaustedOneStartAfresh() {
        int bound = 100_000;
        LocalBackend backend = new LocalBackend(bound, time);
        exhaust(backend, FIVE_AN_HOUR, "attacker");
        int admitted = 0;
        for (int i = 0; i < 1_000_000; i++) {
            if (hasPlace(backend, FIVE_AN_HOUR, "k." + i)) {
                admitted++;
            }
            if (backend.size() > bound) {
                assertThat(backend.size()).as("after %d keys", i).isLessThanOrEqualTo(bound);
            }
            if (i % 50_000 == 0) {
                assertThat(acquire(backend, FIVE_AN_HOUR, "attacker").allowed()).isFalse();
                time.advanceMicros(1);
            }
        }
        assertThat(admitted).isEqualTo(bound - 1);
        assertThat(backend.size()).isEqualTo(bound);
        assertThat(acquire(backend, FIVE_AN_HOUR, "attacker").allowed()).isFalse();
    }

    @Test
    void aFloodThatOutlivesItsKeysNeverLetsAnExhaustedOneStartAfresh() {
        LocalBackend backend = new LocalBackend(1_000, time);
        exhaust(backend, FIVE_AN_HOUR, "attacker");
        int refused = 0;
        for (int i = 0; i < 100_000; i++) {
            // A key of the flood counts for a second, in which 2,000 others come.
            time.advanceMicros(500);
            refused += hasPlace(backend, ONE_A_SECOND, "k." + i) ? 0 : 1;
            assertThat(backend.size()).isLessThanOrEqualTo(1_000);
        }
        assertThat(refused).isBetween(40_000, 60_000);
        assertThat(acquire(backend, FIVE_AN_HOUR, "attacker").allowed()).isFalse();
    }

    @Test
    void newKeysFailAsFullWhileAllKeysCountAndGetInWhenTheyNoLongerDo() {
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
    void theAsynchronousFormFailsAsFullToo() {
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
    void knownKeysAreStillDecidedWhenTheStoreIsFull() {
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
    void untouchedKeysAreDisplacedFirstAndAllThatCountAreKept() {
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
    void aKeyThatWasSpentAgainCountsUntilItsLastSpendingHasReturned() {
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
    void aKeyOfAFixedWindowLeavesItsPlaceAtTheEndOfTheWindowHoweverOftenItWasSpent() {
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
    void aKeyOfALogLeavesItsPlaceAWindowAfterItsLastSpending() {
        PolicyLimits tenASecond =
                new PolicyLimits("ten", List.of(Limit.of(Algorithm.SLIDING_LOG, 10, Duration.ofSeconds(1))));
        LocalBackend backend = new LocalBackend(1, time);
        acquire(backend, tenASecond, "a");
        time.advanceMicros(600_000);
        Receipt receipt = ((Decision.Allowed) acquire(backend, tenASecond, "a")).receipt();
        time.advanceMicros(399_999);
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        backend.giveBack(receipt);
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        acquire(backend, tenASecond, "a");
        time.advanceMicros(999_999);
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        time.advanceMicros(1);
        assertThat(hasPlace(backend, tenASecond, "b")).isTrue();
        assertThat(backend.size()).isEqualTo(1);
    }

    @Test
    void aRefusedCallTakesNoPlaceAndNeedsNone() {
        LocalBackend backend = new LocalBackend(1, time);
        Charge tooDear = new Charge(FIVE_AN_HOUR, "a", 6);
        assertThat(backend.acquire(List.of(tooDear)).allowed()).isFalse();
        assertThat(backend.size()).isZero();
        acquire(backend, FIVE_AN_HOUR, "b");
        assertThat(backend.acquire(List.of(tooDear))).isInstanceOf(Decision.Rejected.class);
    }

    @Test
    void peekTakesNoPlaceAndNeedsNone() {
        LocalBackend backend = new LocalBackend(1, time);
        assertThat(backend.peek(charge(FIVE_AN_HOUR, "a")).get(0).remaining()).isEqualTo(5);
        assertThat(backend.size()).isZero();
        acquire(backend, FIVE_AN_HOUR, "b");
        assertThat(backend.peek(charge(FIVE_AN_HOUR, "a")).get(0).remaining()).isEqualTo(5);
    }

    @Test
    void aDecisionThatFindsPlacesForSomeOfItsKeysSpendsNothing() {
        LocalBackend backend = new LocalBackend(2, time);
        acquire(backend, FIVE_AN_HOUR, "known");
        List<Charge> charges =
                List.of(charge(FIVE_AN_HOUR, "known"), charge(FIVE_AN_HOUR, "new.1"), charge(FIVE_AN_HOUR, "new.2"));
        assertThatThrownBy(() -> backend.acquire(charges)).isInstanceOf(BackendException.class);
        assertThat(backend.size()).isEqualTo(1);
        assertThat(backend.peek(charge(FIVE_AN_HOUR, "known")).get(0).remaining())
                .isEqualTo(4);
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "new.1")).isTrue();
    }

    @Test
    void aReceiptAndAResetFreeThePlace() {
        LocalBackend backend = new LocalBackend(2, time);
        Receipt receipt = ((Decision.Allowed) acquire(backend, FIVE_AN_HOUR, "a")).receipt();
        exhaust(backend, FIVE_AN_HOUR, "b");
        backend.giveBack(receipt);
        assertThat(backend.size()).isEqualTo(1);
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "c")).isTrue();
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "d")).isFalse();
        backend.reset(FIVE_AN_HOUR, "b");
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "d")).isTrue();
        backend.giveBack(charge(FIVE_AN_HOUR, "d"));
        assertThat(hasPlace(backend, FIVE_AN_HOUR, "e")).isTrue();
        assertThat(backend.size()).isEqualTo(2);
    }

    @Test
    void aKeyOfWhichPartWasGivenBackKeepsItsPlaceAndLeavesItEarlier() {
        LocalBackend backend = new LocalBackend(1, time);
        PolicyLimits tenASecond = Keys.policy("ten", 10, Duration.ofSeconds(10));
        exhaust(backend, tenASecond, "a");
        backend.giveBack(new Charge(tenASecond, "a", 9));
        assertThat(hasPlace(backend, tenASecond, "b")).isFalse();
        time.advanceMicros(1_000_000);
        assertThat(hasPlace(backend, tenASecond, "b")).isTrue();
    }

    @Test
    void givingBackToUnknownKeysTakesNoPlace() {
        LocalBackend backend = new LocalBackend(1, time);
        backend.giveBack(charge(FIVE_AN_HOUR, "a"));
        backend.reset(FIVE_AN_HOUR, "a");
        assertThat(backend.size()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void theBoundIsAtLeastOne(int bound) {
        assertThatThrownBy(() -> new LocalBackend(bound)).hasMessage("maxKeys must be at least 1");
    }

    @Test
    void aShadowChargeForWhoseKeyThereIsNoPlaceIsLeftOut() {
        LocalBackend backend = new LocalBackend(2, time);
        exhaust(backend, FIVE_AN_HOUR, "one");
        Charge known = charge(FIVE_AN_HOUR, "two");
        Charge unknown = charge(FIVE_AN_HOUR, "three");
        Decision.Allowed decision = (Decision.Allowed) backend.acquire(List.of(unknown.asShadow(), known));
        assertThat(decision.quotas()).hasSize(1);
        assertThat(decision.shadow()).isEmpty();
        assertThat(backend.size()).isEqualTo(2);
        assertThatThrownBy(() -> backend.acquire(List.of(unknown.asShadow())))
                .asInstanceOf(type(BackendException.class))
                .returns(BackendException.Reason.FULL, BackendException::reason);
    }
}
