// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.rejection;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.fixtures.RedisConnection;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.TestBackend;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A caller over the limit costs Redis at most one call per second, and is not rejected for longer than by Redis. */
@Tag("redis")
class CachedRejectionTest {
    private static final Limit LIMIT = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofHours(1));

    private final TestBackend fixture =
            TestBackend.on(RedisFixture.shared().address()).ready();
    private final RedisConnection redis = RedisFixture.shared().connect();
    private long scripts;

    @BeforeEach
    void countScripts() {
        scripts = redis.calls("evalsha");
    }

    @AfterEach
    void disconnect() {
        fixture.close();
        redis.close();
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void repeatedCallsOverTheLimitDoNotCallRedis(Algorithm algorithm) {
        Limit limit = TestBackend.limitOf(algorithm, 10, Duration.ofHours(1));
        Decision.Allowed spent = (Decision.Allowed) fixture.acquire("k.a", 10, limit);
        long start = System.nanoTime();
        Decision.Rejected first = (Decision.Rejected) fixture.acquire("k.a", 1, limit);
        assertThat(scriptCalls()).isEqualTo(2);
        for (int call = 0; call < 100; call++) {
            Decision.Rejected again = (Decision.Rejected) fixture.acquire("k.a", 1, limit);
            assertThat(Micros.retryAfter(again.decisiveQuota()))
                    .isLessThanOrEqualTo(Micros.retryAfter(first.decisiveQuota()));
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        assertThat(scriptCalls()).as("the rejection is cached for one second").isBetween(2L, 2 + seconds);
        fixture.backend().refund(spent.receipt()).toCompletableFuture().join();
        assertThat(fixture.acquire("k.a", 10, limit).allowed()).isTrue();
    }

    @Test
    void refundsOfThisInstanceTakeEffectAtOnce() {
        fixture.acquire("k.a", 10, LIMIT);
        rejected(1);
        fixture.backend()
                .refund(TestBackend.charge("k.a", 4, LIMIT))
                .toCompletableFuture()
                .join();
        assertThat(fixture.acquire("k.a", 4, LIMIT).allowed()).isTrue();
        rejected(1);
        fixture.backend().reset(List.of(TestBackend.charge("k.a", 1, LIMIT).policy()), "k.a");
        assertThat(fixture.acquire("k.a", 10, LIMIT).allowed()).isTrue();
    }

    @Test
    void anotherLimitALowerCostAndAPeekCallRedis() {
        fixture.acquire("k.a", 9, LIMIT);
        rejected(2);
        assertThat(fixture.remaining("k.a", LIMIT)).isEqualTo(1);
        assertThat(fixture.acquire("k.a", 1, LIMIT).allowed()).isTrue();
        rejected(1);
        Limit raised = Limit.of(Algorithm.SLIDING_WINDOW, 20, Duration.ofHours(1));
        assertThat(fixture.acquire("k.a", 5, raised).allowed()).isTrue();
    }

    @Test
    void aCallThatMayWaitAlwaysCallsRedis() {
        Limit limit = Limit.of(Algorithm.LEAKY_BUCKET, 1, Duration.ofHours(1)).withMaxWait(Duration.ofHours(1));
        Charge immediate = TestBackend.charge("k.a", 1, limit);
        fixture.backend().acquire(List.of(immediate));
        assertThat(fixture.backend().acquire(List.of(immediate)).allowed()).isFalse();
        Charge mayWait =
                new Charge(immediate.policy(), "k.a", 1, Duration.ofHours(1).toMillis() * 1_000);
        assertThat(fixture.backend().acquire(List.of(mayWait)).allowed()).isTrue();
    }

    private void rejected(long cost) {
        assertThat(fixture.acquire("k.a", cost, LIMIT)).isInstanceOf(Decision.Rejected.class);
    }

    private long scriptCalls() {
        return redis.calls("evalsha") - scripts;
    }

    @Test
    void rejectsACallWithAShadowPolicyByItsEnforcedPolicies() {
        Charge enforced = TestBackend.charge("k.a", 10, LIMIT);
        Charge shadow = TestBackend.charge("k.s", 1, LIMIT).asShadow();
        fixture.backend().acquire(List.of(enforced));
        long start = System.nanoTime();
        rejected(10);
        long before = scriptCalls();
        for (int call = 0; call < 3; call++) {
            Decision decision = fixture.backend().acquire(List.of(enforced, shadow));
            assertThat(decision).isInstanceOf(Decision.Rejected.class);
            assertThat(decision.quotas()).hasSize(1);
            assertThat(decision.shadowQuotas()).isEmpty();
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        assertThat(scriptCalls() - before)
                .as("the rejection is cached for one second")
                .isLessThanOrEqualTo(seconds);
        fixture.backend().acquire(List.of(TestBackend.charge("k.s", 10, LIMIT).asShadow()));
        assertThat(fixture.acquire("k.s", 1, LIMIT)).isInstanceOf(Decision.Rejected.class);
        assertThat(fixture.backend().acquire(List.of(shadow)).shadowQuotas())
                .singleElement()
                .satisfies(quota -> assertThat(quota.rejected()).isTrue());
    }
}
