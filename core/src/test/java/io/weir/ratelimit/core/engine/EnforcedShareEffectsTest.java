// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.core.config.Configs;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.events.Penalties;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.LookupTimes;
import io.weir.ratelimit.core.policy.OverrideSources;
import io.weir.ratelimit.core.policy.Overrides;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.LimitOverride;
import io.weir.ratelimit.spi.PolicySource;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Features under a policy in shadow mode that is enforced for some keys: each key sees those of its own mode. */
class EnforcedShareEffectsTest {
    private static final Policy PLAIN = Fixtures.policy("plain", "principal");

    private final LocalBackend backend = new LocalBackend(1_000, new ManualTime());
    private final List<PenaltyImposed> penalties = new ArrayList<>();

    private static Policy policy(String... attributes) {
        String[] lines = Stream.concat(
                        Stream.of("key=principal", "mode=shadow", "enforce-percent=10"), Stream.of(attributes))
                .map(attribute -> "ratelimit.policies.api." + attribute)
                .toArray(String[]::new);
        Problems problems = new Problems();
        Map<String, Policy> policies = PolicyLoader.load(
                        Configs.of(lines), List.of(), new Resolvers(new KeyTerms(32, 64), Map.of()), problems)
                .policies();
        assertThat(problems.lines()).isEmpty();
        return policies.get("api");
    }

    private static TestCall caller(Policy policy, boolean selected) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "user" + i)
                .filter(user -> policy.isShadowFor("p." + user) != selected)
                .map(TestCall::byPrincipal)
                .findFirst()
                .orElseThrow();
    }

    private RateLimitEngine engine(Overrides overrides) {
        return RateLimitEngine.on(Fixtures.withFallback(backend, Fixtures.health(backend)))
                .overrides(overrides)
                .rejections(new Penalties(
                        backend,
                        new KeyMasker(Optional.empty()),
                        () -> Runnable::run,
                        List.of(penalties::add),
                        List.of(),
                        new KnownBlocks(System::nanoTime)))
                .build();
    }

    private static List<Boolean> allowed(RateLimitEngine engine, Policy policy, TestCall call, int calls) {
        return IntStream.range(0, calls)
                .mapToObj(i ->
                        engine.decide(Fixtures.binding(1, policy), call, null).allowed())
                .toList();
    }

    @Test
    void minimalDisclosureHidesTheQuotasOfSelectedKeysOnly() {
        Policy minimal = policy("limit=10/1h", "disclosure=minimal");
        Binding binding = Fixtures.binding(1, minimal, PLAIN);
        RateLimitEngine engine = engine(Overrides.NONE);
        for (boolean selected : List.of(true, false)) {
            TestCall call = caller(minimal, selected);
            RequestState request = new RequestState(call);
            engine.decide(binding, call, request);
            assertThat(request.quotas().areHidden()).isEqualTo(selected);
            engine.decide(Fixtures.binding(2, minimal, PLAIN), call, request);
            assertThat(request.quotas().areHidden()).as("a second decision").isEqualTo(selected);
        }
    }

    @Test
    void penaltiesBlockSelectedKeysOnly() {
        Policy policy = policy("limit=1/1h", "penalty.after=2/1m", "penalty.for=15m");
        RateLimitEngine engine = engine(Overrides.NONE);
        assertThat(allowed(engine, policy, caller(policy, false), 10)).containsOnly(true);
        assertThat(penalties).isEmpty();
        TestCall selected = caller(policy, true);
        assertThat(allowed(engine, policy, selected, 3)).containsExactly(true, false, false);
        assertThat(penalties).hasSize(1);
        Decision decision = engine.decide(Fixtures.binding(1, policy), selected, null);
        assertThat(((Decision.Rejected) decision).blocked()).isTrue();
    }

    @Test
    void aBlockRejectsCallsOfSelectedKeysOnly() {
        Policy policy = policy("limit=10/1h");
        RateLimitEngine engine = engine(Overrides.NONE);
        for (boolean selected : List.of(true, false)) {
            TestCall call = caller(policy, selected);
            backend.block(policy.limits(), "p." + call.principal().orElseThrow(), Duration.ofMinutes(1))
                    .toCompletableFuture()
                    .join();
            assertThat(allowed(engine, policy, call, 1)).containsExactly(!selected);
        }
    }

    @Test
    void slotsOfBothKindsOfKeysAreReleased() {
        Policy policy = policy("concurrency=1");
        RateLimitEngine engine = engine(Overrides.NONE);
        for (boolean selected : List.of(true, false)) {
            TestCall call = caller(policy, selected);
            for (int round = 0; round < 2; round++) {
                Decision first = engine.decide(Fixtures.binding(1, policy), call, null);
                assertThat(engine.ends().slots().held("api")).isEqualTo(1);
                assertThat(allowed(engine, policy, call, 1)).containsExactly(!selected);
                engine.ends().release(first.receipt());
                assertThat(engine.ends().slots().held("api")).isZero();
            }
        }
    }

    @Test
    void theLimitsOfAKeyDoNotChangeItsMode() {
        Policy policy = policy("limit=10/1h");
        RateLimitEngine engine = engine(new Overrides(
                OverrideSources.of(
                        List.of(new PolicySource() {
                            @Override
                            public Set<String> policies() {
                                return Set.of("api");
                            }

                            @Override
                            public Optional<LimitOverride> limits(String name, Identity key) {
                                return Optional.of(LimitOverride.of("2/1h"));
                            }
                        }),
                        new Problems()),
                new LookupTimes(Duration.ofSeconds(5), Duration.ofSeconds(1), () -> 0),
                () -> Runnable::run,
                new KeyMasker(Optional.empty()),
                (name, failure) -> {}));
        assertThat(allowed(engine, policy, caller(policy, true), 3)).containsExactly(true, true, false);
        TestCall other = caller(policy, false);
        assertThat(allowed(engine, policy, other, 3)).containsOnly(true);
        assertThat(engine.decide(Fixtures.binding(1, policy), other, null).shadowQuotas())
                .singleElement()
                .satisfies(quota -> {
                    assertThat(quota.permits()).isEqualTo(2);
                    assertThat(quota.remaining()).isZero();
                });
    }
}
