// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.key.ClientAddress;
import io.weir.ratelimit.core.key.ForwardedHeader;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.OverrideSources;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.TierSelector;
import io.weir.ratelimit.core.policy.Tiers;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.KeyResolver;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Decisions for a thread that must not block. The test thread is that thread: what would block it waits in a queue. */
class AsyncCallsTest {
    private static final Policy A = policy("a", "principal");
    private static final Policy CLOSED = policy("closed", "principal", 1, FailureMode.CLOSED);
    private static final TestCall ALICE = TestCall.byPrincipal("alice");

    private final ManualSleeper sleeper = new ManualSleeper(new ManualTime());
    private final FakeBackend backend = new FakeBackend();
    private final List<DecisionEvent> events = new ArrayList<>();
    private final RateLimitEngine engine = engine(backend, sleeper, events::add);
    private final RequestState request = new RequestState(ALICE);
    private final Deque<Runnable> threads = new ArrayDeque<>();

    private CompletableFuture<Decision> call(String endpoint, long cost, Policy policy) {
        return engine.decideAsync(binding(endpoint, cost, policy), ALICE, request, threads::add);
    }

    private void runThreads() {
        while (!threads.isEmpty()) {
            threads.remove().run();
        }
    }

    private static Decision allowed() {
        return new Decision.Allowed(List.of(), new Receipt() {});
    }

    @Test
    void aDecisionThatNothingDelaysUsesNoOtherThread() {
        CompletableFuture<Decision> decision = call("Search.find", 1, A);
        assertThat(decision).isDone();
        assertThat(events).hasSize(1);
        assertThat(threads).isEmpty();
    }

    @Test
    void aSlowBackendEndsTheCallOnAnotherThreadThanItsOwn() {
        CompletableFuture<Decision> answer = new CompletableFuture<>();
        backend.stage = answer;
        CompletableFuture<Decision> decision = call("Search.find", 1, A);
        assertThat(decision).isNotDone();
        answer.complete(allowed());
        assertThat(events).as("the thread of the backend runs no listener").isEmpty();
        runThreads();
        assertThat(decision.join().allowed()).isTrue();
        assertThat(events).hasSize(1);
    }

    @Test
    void aKeyResolverRunsOnTheThreadsForIt() {
        List<String> resolved = new ArrayList<>();
        KeyResolver tenant = call -> {
            resolved.add("tenant");
            return call.principal().map(Identity::principal);
        };
        KeyTerms terms = new KeyTerms(
                32, 64, new ClientAddress(List.of(), ForwardedHeader.X_FORWARDED_FOR), Map.of("tenant", tenant), true);
        Policy policy = Policy.builder(A.limits(), KeyExpression.parse("tenant | ip", terms))
                .build();
        CompletableFuture<Decision> decision = call("Search.find", 1, policy);
        assertThat(resolved).isEmpty();
        assertThat(decision).isNotDone();
        runThreads();
        assertThat(resolved).containsOnly("tenant");
        assertThat(decision.join().allowed()).isTrue();
        assertThat(backend.calls).containsExactly("a p.alice 1");
    }

    @Test
    void aTierResolverRunsOnTheThreadsForIt() {
        List<String> selected = new ArrayList<>();
        TierSelector plan = new TierSelector() {
            @Override
            public Optional<String> tier(CallContext call) {
                selected.add("plan");
                return Optional.of("gold");
            }

            @Override
            public boolean callsResolver() {
                return true;
            }
        };
        Policy policy = A.toBuilder()
                .tiers(new Tiers("plan", plan, Map.of("gold", A.limits())))
                .build();
        CompletableFuture<Decision> decision = call("Search.find", 1, policy);
        assertThat(selected).isEmpty();
        runThreads();
        assertThat(selected).isNotEmpty();
        assertThat(decision.join().allowed()).isTrue();
    }

    @Test
    void theLimitsOfAKeyDelayTheDecisionUntilTheDeadline() {
        PolicySource source = new PolicySource() {
            @Override
            public Set<String> policies() {
                return Set.of("a");
            }

            @Override
            public Optional<LimitOverride> limits(String policy, Identity key) {
                throw new AssertionError("the look-up hangs, so the test does not run it");
            }
        };
        RateLimitEngine overridden = RateLimitEngine.on(Fixtures.withFallback(backend, Fixtures.health(backend)))
                .clock(sleeper)
                .overrides(new Overrides(
                        OverrideSources.of(List.of(source), new Problems()),
                        new LookupTimes(Duration.ofSeconds(5), Duration.ofSeconds(1), () -> 0),
                        () -> task -> {},
                        new KeyMasker(Optional.empty()),
                        (policy, failure) -> {}))
                .build();
        CompletableFuture<Decision> decision = overridden.decideAsync(binding(1, A), ALICE, request, threads::add);
        assertThat(decision).isNotDone();
        sleeper.timers.get(0).complete(null);
        runThreads();
        assertThat(decision.join().allowed()).isTrue();
    }

    @Test
    void aCallWaitsWithoutAThreadForAnotherCallOfItsRequest() {
        CompletableFuture<Decision> answer = new CompletableFuture<>();
        backend.stage = answer;
        CompletableFuture<Decision> first = call("Search.find", 3, A);
        CompletableFuture<Decision> second = call("Search.other", 3, A);
        runThreads();
        assertThat(second).isNotDone();
        answer.complete(allowed());
        runThreads();
        assertThat(first.join().allowed()).isTrue();
        assertThat(second.join()).isEqualTo(Decision.Allowed.UNLIMITED);
        assertThat(backend.calls).containsExactly("async");
    }

    @Test
    void aCallWaitsForAnotherOneOnlyUntilTheDeadline() {
        backend.stage = new CompletableFuture<>();
        CompletableFuture<Decision> first = call("Search.find", 3, CLOSED);
        CompletableFuture<Decision> second = call("Search.other", 3, CLOSED);
        assertThat(sleeper.waits).containsExactly(Fixtures.DEADLINE.toMillis() * 1_000);
        sleeper.timers.get(0).complete(null);
        runThreads();
        assertThat(second.join()).isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, "timeout"));
        assertThat(first).isNotDone();
    }

    @Test
    void aCanceledCallDoesNotWaitForAnotherOne() {
        CompletableFuture<Decision> answer = new CompletableFuture<>();
        backend.stage = answer;
        CompletableFuture<Decision> first = call("Search.find", 3, A);
        call("Search.other", 5, A).cancel(false);
        answer.complete(allowed());
        runThreads();
        assertThat(first.join().allowed()).isTrue();
        assertThat(backend.calls).containsExactly("async");
        assertThat(sleeper.timers.get(0)).isCancelled();
    }

    @Test
    void aCallWithoutAThreadForItsResolverFails() {
        TierSelector plan = new TierSelector() {
            @Override
            public Optional<String> tier(CallContext call) {
                return Optional.empty();
            }

            @Override
            public boolean callsResolver() {
                return true;
            }
        };
        Policy policy = A.toBuilder()
                .tiers(new Tiers("plan", plan, Map.of("gold", A.limits())))
                .build();
        CompletableFuture<Decision> decision = engine.decideAsync(binding(1, policy), ALICE, request, task -> {
            throw new RejectedExecutionException("the application ends");
        });
        assertThat(decision).isCompletedExceptionally();
    }
}
