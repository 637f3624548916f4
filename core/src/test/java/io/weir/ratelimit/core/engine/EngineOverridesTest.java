// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.OverrideSources;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.Tiers;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.spi.PolicySource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** The precedence of the limits of a key, of the tier and of the policy. */
class EngineOverridesTest {
    private static final Policy BARE = Fixtures.policy("api", "principal");
    private static final Tiers TIERS = new Tiers(
            "test",
            CallContext::principal,
            Map.of(
                    "ann",
                    new PolicyLimits(
                            "api", "ann", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 200, Duration.ofMinutes(1))))));
    private static final Policy API = BARE.toBuilder().tiers(TIERS).build();
    private static final Map<String, LimitOverride> BOUGHT =
            Map.of("bea", LimitOverride.of("300/1m"), "ann", LimitOverride.of("400/1m"));

    private final FakeBackend backend = new FakeBackend();
    private final List<DecisionEvent> events = new ArrayList<>();
    private final Deque<Runnable> queue = new ArrayDeque<>();
    private final List<CompletableFuture<Void>> timers = new ArrayList<>();
    private Map<String, LimitOverride> table = BOUGHT;
    private Runnable meanwhile = () -> {};
    private Executor executor = Runnable::run;

    private final PolicySource source = new PolicySource() {
        @Override
        public Set<String> policies() {
            return Set.of("api");
        }

        @Override
        public Optional<LimitOverride> limits(String policy, Identity key) {
            meanwhile.run();
            return Optional.ofNullable(table.get(key.parts().get(0).value()));
        }
    };

    private final RateLimitEngine engine = RateLimitEngine.on(Fixtures.withFallback(backend, Fixtures.health(backend)))
            .listeners(List.of(events::add))
            .clock(new Sleeper() {
                @Override
                public long nanos() {
                    return 0;
                }

                @Override
                public CompletableFuture<Void> timer(long micros) {
                    timers.add(new CompletableFuture<>());
                    return timers.get(timers.size() - 1);
                }
            })
            .overrides(new Overrides(
                    OverrideSources.of(List.of(source), new Problems()),
                    new LookupTimes(Duration.ofSeconds(5), Duration.ofSeconds(1), () -> 0),
                    () -> executor,
                    new KeyMasker(Optional.empty()),
                    (policy, failure) -> {}))
            .build();

    private final RateLimiter limiter =
            new EngineRateLimiter(engine, () -> Map.of("api", API), () -> Runnable::run, Optional::empty);

    private String lastLimits() {
        Charge charge = events.get(events.size() - 1).charges().get(0);
        return charge.policy().tier() + " " + charge.policy().limits().get(0).permits();
    }

    private String limitsOf(String user) {
        engine.decide(binding(1, API), TestCall.byPrincipal(user), null);
        return lastLimits();
    }

    @Test
    void anOverridePrecedesTheTierAndTheTierThePolicy() {
        assertThat(limitsOf("ann")).isEqualTo("override 400");
        assertThat(limitsOf("bea")).isEqualTo("override 300");
        assertThat(limitsOf("cid")).isEqualTo("none 100");
    }

    @Test
    void theTierAppliesWithoutAnOverride() {
        table = Map.of();
        assertThat(limitsOf("ann")).isEqualTo("ann 200");
    }

    @Test
    void requestsAndCodeShareOverrides() {
        limiter.acquire("api", Identity.principal("bea"));
        assertThat(lastLimits()).isEqualTo("override 300");
        assertThat(limiter.peek("api", Identity.principal("bea")).get(0).permits())
                .isEqualTo(300);
        limiter.refund("api", Identity.principal("bea"), 1);
        limiter.reset("api", Identity.principal("bea"));
        assertThat(backend.changed)
                .as("of the refund, and of the reset of all limits")
                .extracting(limits -> limits.limits().get(0).permits())
                .containsExactly(300L, 100L, 200L, 300L);
        limiter.acquireAsync("api", Identity.principal("ann"));
        assertThat(lastLimits()).isEqualTo("override 400");
        assertThat(engine.keys().peek(API, TestCall.byPrincipal("bea")).get(0).permits())
                .isEqualTo(300);
    }

    @Test
    void callsASourceWithoutAMonitor() {
        RequestState request = new RequestState(TestCall.byPrincipal("bea"));
        List<Boolean> locked = new ArrayList<>();
        meanwhile = () -> locked.add(Thread.holdsLock(request));
        engine.decide(binding(1, API), TestCall.byPrincipal("bea"), request);
        assertThat(locked).containsExactly(false);
        assertThat(lastLimits()).isEqualTo("override 300");
    }

    @Test
    void anAsynchronousDecisionWaitsForTheLimits() {
        executor = queue::add;
        CompletableFuture<Decision> decision =
                limiter.acquireAsync("api", Identity.principal("bea")).toCompletableFuture();
        assertThat(decision).isNotDone();
        assertThat(backend.calls).isEmpty();
        queue.remove().run();
        assertThat(decision).isCompleted();
        assertThat(lastLimits()).isEqualTo("override 300");
    }

    @Test
    void anAsynchronousDecisionAppliesThePolicyAfterTheDeadline() {
        executor = queue::add;
        CompletableFuture<Decision> decision =
                limiter.acquireAsync("api", Identity.principal("bea")).toCompletableFuture();
        timers.get(0).complete(null);
        assertThat(decision).isCompleted();
        assertThat(lastLimits()).isEqualTo("none 100");
    }

    @Test
    void aCanceledDecisionDoesNotCallTheBackend() {
        executor = queue::add;
        CompletableFuture<Decision> decision =
                limiter.acquireAsync("api", Identity.principal("bea")).toCompletableFuture();
        decision.cancel(false);
        queue.remove().run();
        assertThat(backend.calls).isEmpty();
    }
}
