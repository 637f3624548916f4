// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.PenaltyImposed;
import io.weir.ratelimit.core.config.Configs;
import io.weir.ratelimit.core.config.Problems;
import io.weir.ratelimit.core.events.KnownBlocks;
import io.weir.ratelimit.core.events.Penalties;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.limit.Micros;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.CostCheck;
import io.weir.ratelimit.core.policy.PenaltyCheck;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.policy.PolicyLoader;
import io.weir.ratelimit.core.policy.Resolvers;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.tck.ManualTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A client that waits after each rejection exactly as long as {@code Retry-After} requires, under pairs of features. */
class ObedientClientTest {
    private static final long SECOND = TimeUnit.SECONDS.toMicros(1);
    private static final long HOUR = TimeUnit.HOURS.toMicros(1);
    private static final TestCall CLIENT = TestCall.byPrincipal("ann");

    private static final List<String> FEATURES = List.of(
            "limit=10/1m algorithm=fixed-window",
            "limit=10/1s algorithm=fixed-window",
            "limit=10/1m algorithm=sliding-window",
            "limit=100/1m algorithm=sliding-window",
            "limit=5/1m algorithm=sliding-log",
            "limit=100/1m algorithm=sliding-log",
            "limit=6/1m algorithm=token-bucket burst=3",
            "limit=100/1m algorithm=token-bucket",
            "limit=5/1m algorithm=leaky-bucket",
            "limit=20/hour",
            "limit=2/1s,30/1m",
            "concurrency=1 concurrency-timeout=1d",
            "max-wait=2s",
            "cost=2",
            "mode=shadow",
            "mode=shadow enforce-percent=99",
            "count=success",
            "notify-at=50%",
            "penalty.after=20/1m penalty.for=15m",
            "penalty.after=62/1m penalty.for=15m",
            "penalty.after=500/1h penalty.for=1m penalty.factor=3");

    private final ManualTime time = new ManualTime();
    private final LocalBackend backend = new LocalBackend(1_000, time);
    private final List<PenaltyImposed> penalties = new ArrayList<>();
    private final RateLimitEngine engine = RateLimitEngine.on(Fixtures.withFallback(backend, Fixtures.health(backend)))
            .clock(new ManualSleeper(time))
            .rejections(new Penalties(
                    backend,
                    new KeyMasker(Optional.empty()),
                    () -> Runnable::run,
                    List.of(penalties::add),
                    List.of(),
                    new KnownBlocks(System::nanoTime)))
            .build();

    /** Returns the policies of all pairs of features that do not set the same attribute, each with a limit. */
    static List<String> pairs() {
        return IntStream.range(0, FEATURES.size())
                .boxed()
                .flatMap(one -> IntStream.range(one + 1, FEATURES.size())
                        .mapToObj(other -> FEATURES.get(one) + " " + FEATURES.get(other)))
                .map(pair -> pair.contains("penalty") ? pair : pair + " penalty.after=20/1m penalty.for=15m")
                .filter(pair -> attributes(pair).size() == pair.split(" ", -1).length)
                .map(pair -> pair.matches("(?:.* )?(limit|concurrency)=.*") ? pair : "limit=10/1m " + pair)
                .distinct()
                .toList();
    }

    private static Map<String, String> attributes(String text) {
        Map<String, String> attributes = new LinkedHashMap<>();
        for (String attribute : text.split(" ", -1)) {
            attributes.put(attribute.split("=", 2)[0], attribute);
        }
        return attributes;
    }

    /** Returns the policy; empty if its features exclude each other, or if its cost can never fit. */
    private static Optional<Policy> policy(String attributes) {
        String[] lines = Stream.concat(Stream.of("key=principal"), Stream.of(attributes.split(" ", -1)))
                .map(attribute -> "ratelimit.policies.api." + attribute)
                .toArray(String[]::new);
        Problems problems = new Problems();
        Map<String, Policy> policies = PolicyLoader.load(
                        Configs.of(lines), List.of(), new Resolvers(new KeyTerms(32, 64), Map.of()), problems)
                .policies();
        return Optional.ofNullable(policies.get("api"))
                .filter(policy -> problems.found().isEmpty())
                .filter(policy ->
                        policy.cost() <= CostCheck.capacity(policy.limits()).orElse(policy.cost()));
    }

    /** Sends ten calls a second, and none until the end of the wait after a rejection. A call that runs the whole time holds the slot. */
    private int rejectionsInAnHour(Policy policy) {
        Binding binding = Fixtures.binding(policy.cost(), policy);
        int rejections = 0;
        if (policy.hasConcurrency()) {
            assertThat(engine.decide(binding, CLIENT, null).allowed()).isTrue();
        }
        long end = time.micros() + HOUR;
        while (time.micros() < end) {
            Decision decision = engine.decide(binding, CLIENT, null);
            long wait = SECOND / 10;
            if (decision instanceof Decision.Rejected rejected) {
                rejections++;
                long micros = Micros.retryAfter(rejected.decisiveQuota());
                assertThat(micros).isNotEqualTo(Micros.NEVER);
                wait = Math.max(1, (micros + SECOND - 1) / SECOND) * SECOND;
            }
            time.advanceMicros(wait);
        }
        return rejections;
    }

    @Tag("field")
    @ParameterizedTest
    @MethodSource("pairs")
    void isNeverBlockedUnlessTheStartWarns(String pair) {
        Optional<Policy> policy = policy(pair);
        if (policy.isEmpty()) {
            return;
        }
        boolean warned = PenaltyCheck.reachable(policy.get()).isPresent();
        int rejections = rejectionsInAnHour(policy.get());
        if (!warned) {
            assertThat(penalties).as("%d rejections", rejections).isEmpty();
        }
        if (policy.get().hasConcurrency()
                && policy.get().canReject()
                && policy.get().limits().limits().size() == 1) {
            assertThat(warned).isFalse();
            assertThat(rejections).isGreaterThan(1_000);
        }
    }

    @Test
    void thePairsContainEachFeature() {
        List<String> valid =
                pairs().stream().filter(pair -> policy(pair).isPresent()).toList();
        assertThat(valid).hasSizeGreaterThan(100);
        FEATURES.forEach(feature -> assertThat(valid).anyMatch(pair -> pair.contains(feature)));
    }

    /** The warning is not given for every penalty. */
    @ParameterizedTest
    @MethodSource("warned")
    void theStartWarnsOfAReachablePenalty(String attributes, long rejections) {
        assertThat(PenaltyCheck.reachable(policy(attributes).orElseThrow()).orElse(0))
                .isEqualTo(rejections);
    }

    static List<Object[]> warned() {
        return List.of(
                new Object[] {"limit=100/1m penalty.after=20/1m penalty.for=15m", 61L},
                new Object[] {"limit=100/1m penalty.after=62/1m penalty.for=15m", 0L},
                new Object[] {"limit=10/1m penalty.after=20/1m penalty.for=15m", 0L},
                new Object[] {"limit=10/1m penalty.after=12/1m penalty.for=15m", 12L},
                new Object[] {"limit=100/1m algorithm=fixed-window penalty.after=20/1m penalty.for=15m", 0L},
                new Object[] {"limit=10/1s algorithm=fixed-window penalty.after=20/1m penalty.for=15m", 61L},
                new Object[] {"limit=10000/month penalty.after=20/1m penalty.for=15m", 0L},
                new Object[] {"limit=100/1m mode=shadow penalty.after=20/1m penalty.for=15m", 0L},
                new Object[] {"concurrency=1 penalty.after=1/1m penalty.for=15m", 0L});
    }

    @Test
    @Tag("field")
    void theFreeSlotIsAvailableAfterManyRejections() {
        Policy policy =
                policy("concurrency=1 penalty.after=2/1m penalty.for=15m").orElseThrow();
        Binding binding = Fixtures.binding(1, policy);
        Decision holder = engine.decide(binding, CLIENT, null);
        for (int call = 0; call < 60; call++) {
            assertThat(((Decision.Rejected) engine.decide(binding, CLIENT, null)).blocked())
                    .isFalse();
            time.advanceMicros(SECOND / 10);
        }
        engine.ends().release(holder.receipt());
        assertThat(engine.decide(binding, CLIENT, null).allowed()).isTrue();
    }

    @Test
    void aWindowThatRejectsTooCountsBesideASlot() {
        Policy policy = policy("limit=1/1h concurrency=1 penalty.after=3/1m penalty.for=15m")
                .orElseThrow();
        Binding binding = Fixtures.binding(1, policy);
        assertThat(engine.decide(binding, CLIENT, null).allowed()).isTrue();
        for (int call = 0; call < 3; call++) {
            engine.decide(binding, CLIENT, null);
        }
        assertThat(penalties).hasSize(1);
    }
}
