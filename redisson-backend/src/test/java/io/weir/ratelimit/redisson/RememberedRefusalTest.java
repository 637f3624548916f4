// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who is over the limit costs Redis one call per second at most, and nobody is refused from memory for longer than by Redis. */
class RememberedRefusalTest {
    private static final Limit LIMIT = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofHours(1));

    private final TestStore store =
            TestStore.on(RedisFixture.shared().address()).ready();
    private final RedisConnection redis = RedisFixture.shared().connect();
    private long scripts;

    @BeforeEach
    void forgetWhatWasAskedSoFar() {
        scripts = redis.calls("evalsha");
    }

    @AfterEach
    void disconnect() {
        store.close();
        redis.close();
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aCallerWhoKeepsCallingCostsRedisNothing(Algorithm algorithm) {
        Limit limit = TestStore.limitOf(algorithm, 10, Duration.ofHours(1));
        Decision.Allowed spent = (Decision.Allowed) store.acquire("k.a", 10, limit);
        long start = System.nanoTime();
        Decision.Rejected told = (Decision.Rejected) store.acquire("k.a", 1, limit);
        assertThat(asked()).isEqualTo(2);
        for (int call = 0; call < 100; call++) {
            Decision.Rejected again = (Decision.Rejected) store.acquire("k.a", 1, limit);
            assertThat(again.decisive().retryAfterMicros())
                    .isLessThanOrEqualTo(told.decisive().retryAfterMicros());
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        assertThat(asked()).as("it is remembered for a second").isBetween(2L, 2 + seconds);
        store.backend().giveBack(spent.receipt());
        assertThat(store.acquire("k.a", 10, limit).allowed()).isTrue();
    }

    @Test
    void whatComesBackWithinTheProcessIsSeenAtOnce() {
        store.acquire("k.a", 10, LIMIT);
        refused(1);
        store.backend().giveBack(TestStore.charge("k.a", 4, LIMIT));
        assertThat(store.acquire("k.a", 4, LIMIT).allowed()).isTrue();
        refused(1);
        store.backend().reset(TestStore.charge("k.a", 1, LIMIT).policy(), "k.a");
        assertThat(store.acquire("k.a", 10, LIMIT).allowed()).isTrue();
    }

    @Test
    void anotherLimitAnotherCostAndALookAskRedis() {
        store.acquire("k.a", 9, LIMIT);
        refused(2);
        assertThat(store.remaining("k.a", LIMIT)).isEqualTo(1);
        assertThat(store.acquire("k.a", 1, LIMIT).allowed()).isTrue();
        refused(1);
        Limit raised = Limit.of(Algorithm.SLIDING_WINDOW, 20, Duration.ofHours(1));
        assertThat(store.acquire("k.a", 5, raised).allowed()).isTrue();
    }

    @Test
    void aCallThatMayWaitIsNeverRefusedFromMemory() {
        Limit limit = Limit.of(Algorithm.LEAKY_BUCKET, 1, Duration.ofHours(1)).withMaxWait(Duration.ofHours(1));
        Charge impatient = TestStore.charge("k.a", 1, limit);
        store.backend().acquire(List.of(impatient));
        assertThat(store.backend().acquire(List.of(impatient)).allowed()).isFalse();
        Charge patient =
                new Charge(impatient.policy(), "k.a", 1, Duration.ofHours(1).toMillis() * 1_000);
        assertThat(store.backend().acquire(List.of(patient)).allowed()).isTrue();
    }

    private void refused(long cost) {
        assertThat(store.acquire("k.a", cost, LIMIT)).isInstanceOf(Decision.Rejected.class);
    }

    private long asked() {
        return redis.calls("evalsha") - scripts;
    }

    @Test
    void aCallWithAPolicyInShadowModeAsksRedisWhatThatOneSays() {
        Charge enforced = TestStore.charge("k.a", 10, LIMIT);
        Charge shadow = TestStore.charge("k.s", 1, LIMIT).asShadow();
        store.backend().acquire(List.of(enforced));
        refused(10);
        long before = asked();
        for (int call = 0; call < 3; call++) {
            Decision decision = store.backend().acquire(List.of(enforced, shadow));
            assertThat(decision).isInstanceOf(Decision.Rejected.class);
            assertThat(decision.shadow()).singleElement().satisfies(quota -> {
                assertThat(quota.refused()).isFalse();
                assertThat(quota.remaining()).isEqualTo(10);
            });
        }
        assertThat(asked() - before).isEqualTo(3);
        store.backend().acquire(List.of(TestStore.charge("k.s", 10, LIMIT).asShadow()));
        assertThat(store.acquire("k.s", 1, LIMIT)).isInstanceOf(Decision.Rejected.class);
        assertThat(store.backend().acquire(List.of(shadow)).shadow())
                .singleElement()
                .satisfies(quota -> assertThat(quota.refused()).isTrue());
    }
}
