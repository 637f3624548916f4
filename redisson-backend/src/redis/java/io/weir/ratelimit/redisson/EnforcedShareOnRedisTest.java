// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.engine.EngineRateLimiter;
import io.weir.ratelimit.core.engine.RateLimitEngine;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.fixtures.Await;
import io.weir.ratelimit.fixtures.RedisFixture;
import io.weir.ratelimit.redisson.rejection.HotKeyDetector;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.RateLimitBackend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two instances on one Redis, under a policy in shadow mode that is enforced for a share of its keys. */
@Tag("redis")
class EnforcedShareOnRedisTest {
    private static Policy policy(long permits, long lease) {
        Limit limit = Limit.of(Algorithm.SLIDING_WINDOW, permits, Duration.ofDays(30));
        return RedisEngine.policy(
                new PolicyLimits(TestBackend.POLICY, List.of(limit)).withLease(lease),
                Policy.Mode.SHADOW,
                List.of(),
                Optional.empty(),
                10);
    }

    private static RateLimiter limiter(RateLimitBackend backend, Policy policy) {
        RateLimitEngine engine =
                RedisEngine.of(RedisEngine.withFallback(backend, RedisEngine.NO_LOCAL, RedisEngine.DEADLINE));
        return new EngineRateLimiter(engine, () -> Map.of(policy.name(), policy), () -> Runnable::run, Optional::empty);
    }

    private static String user(Policy policy, boolean selected) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "user" + i)
                .filter(user -> policy.isShadowFor("p." + user) != selected)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void allInstancesRejectCallsOfTheSameKeys() {
        Policy policy = policy(3, 0);
        try (TestBackend one = TestBackend.on(RedisFixture.shared().address()).ready();
                TestBackend two = one.anotherClient()) {
            List<RateLimiter> instances = List.of(limiter(one.backend(), policy), limiter(two.backend(), policy));
            for (boolean selected : List.of(true, false)) {
                Identity key = Identity.principal(user(policy, selected));
                for (int call = 0; call < 6; call++) {
                    Decision decision = instances.get(call % 2).acquire(policy.name(), key);
                    assertThat(decision.allowed()).isEqualTo(!selected || call < 3);
                    assertThat(decision.quotas()).hasSize(selected ? 1 : 0);
                    List<Quota> quotas = selected ? decision.quotas() : decision.shadowQuotas();
                    assertThat(quotas)
                            .singleElement()
                            .extracting(Quota::remaining)
                            .isEqualTo(Math.max(0L, 2 - call));
                }
            }
        }
    }

    @Test
    void onlySelectedKeysHaveLeases() {
        Policy policy = policy(100_000, 100);
        try (TestBackend one = TestBackend.on(RedisFixture.shared().address()).ready();
                TestBackend two = one.anotherClient()) {
            RateLimiter limiter = limiter(one.backend(), policy);
            String selected = user(policy, true);
            int[] allowed = {0};
            Await.until("the instance holds leased permits", LeasedCalls.SOON, () -> {
                allowed[0] += callsAtOnce(limiter, policy, selected);
                return spent(two, policy, selected) > allowed[0];
            });
            String other = user(policy, false);
            int calls = 0;
            for (int round = 0; round < 10; round++) {
                calls += callsAtOnce(limiter, policy, other);
                assertThat(spent(two, policy, other)).isEqualTo(calls);
            }
        }
    }

    /** Makes enough calls for a lease. Returns their number. */
    private static int callsAtOnce(RateLimiter limiter, Policy policy, String user) {
        List<CompletionStage<Decision>> calls = IntStream.range(0, 2 * HotKeyDetector.HOT)
                .mapToObj(call -> limiter.acquireAsync(policy.name(), Identity.principal(user)))
                .toList();
        calls.forEach(
                call -> assertThat(call.toCompletableFuture().join().allowed()).isTrue());
        return calls.size();
    }

    private static long spent(TestBackend instance, Policy policy, String user) {
        Quota quota = instance.backend()
                .peek(List.of(new Charge(policy.limits(), "p." + user, 1)))
                .get(0);
        return quota.capacity() - quota.remaining();
    }
}
