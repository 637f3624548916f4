// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.Identity;
import io.weir.ratelimit.RateLimiter;
import io.weir.ratelimit.core.fallback.BackendHealth;
import io.weir.ratelimit.core.fallback.BackendStateListener;
import io.weir.ratelimit.core.fallback.FailureModes;
import io.weir.ratelimit.core.fallback.FallbackBackend;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyMasker;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.core.slots.Sleeper;
import io.weir.ratelimit.core.topkeys.TopKeysTracker;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Decisions of the engine while all places of the local backend are in use, by 100 callers of a long window. */
class FullBackendTest {
    private static final int MAX_KEYS = 100;
    private static final Policy API = fiveAnHour("api", FailureMode.OPEN);
    private static final Policy CLOSED = fiveAnHour("strict", FailureMode.CLOSED);

    private final ManualTime time = new ManualTime();
    private final List<DecisionEvent> events = new ArrayList<>();
    private final List<Reason> failures = new ArrayList<>();
    private final LocalBackend backend = new LocalBackend(MAX_KEYS, time);
    private final BackendHealth health =
            new BackendHealth(backend, true, false, () -> time.micros() * 1_000, List.of(new BackendStateListener() {
                @Override
                public void onError(BackendException failure) {
                    failures.add(failure.reason());
                }
            }));
    private final FailureModes modes = new FailureModes(() -> 1, () -> new LocalBackend(MAX_KEYS, time), bound -> 0);
    private final RateLimitEngine engine =
            Fixtures.engine(new FallbackBackend(backend, modes, health, Fixtures.DEADLINE), Sleeper.REAL, events::add);

    private static Policy fiveAnHour(String name, FailureMode onFailure) {
        return Policy.builder(
                        new PolicyLimits(name, List.of(Limit.of(Algorithm.SLIDING_WINDOW, 5, Duration.ofHours(1)))),
                        KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .onFailure(onFailure)
                .build();
    }

    @BeforeEach
    void fill() {
        for (int caller = 0; caller < MAX_KEYS; caller++) {
            assertThat(call("caller" + caller, API)).isInstanceOf(Decision.Allowed.class);
        }
        events.clear();
    }

    private Decision call(String caller, Policy... policies) {
        return engine.decide(binding(1, policies), TestCall.byPrincipal(caller), null);
    }

    private int allowed(String caller, Policy... policies) {
        int allowed = 0;
        for (int i = 0; i < 30; i++) {
            allowed += call(caller, policies).allowed() ? 1 : 0;
        }
        return allowed;
    }

    @Test
    void aNewCallerHasItsLimit() {
        for (int caller = 0; caller < 10; caller++) {
            assertThat(allowed("new" + caller, API)).isEqualTo(5);
        }
        Decision.Rejected rejected = (Decision.Rejected) call("new0", API);
        assertThat(rejected.violatedPolicies()).containsExactly("api");
        assertThat(rejected.retryAfter())
                .hasValueSatisfying(wait -> assertThat(wait).isBetween(Duration.ofHours(1), Duration.ofHours(2)));
        assertThat(events)
                .hasSize(301)
                .allSatisfy(event -> assertThat(event.decision()).isNotInstanceOf(Decision.Degraded.class));
    }

    @Test
    void operatorsSeeThatTheBackendIsFull() {
        allowed("new", API);
        assertThat(failures).hasSize(5).containsOnly(Reason.FULL);
        BackendHealth.Report report = health.report();
        assertThat(report.state()).isEqualTo(BackendHealth.State.DEGRADED);
        assertThat(report.lastFailure()).hasValue("full");
        assertThat(report.ready()).isTrue();
    }

    @Test
    void aCallerOfTheApiHasItsLimit() {
        RateLimiter limiter =
                new EngineRateLimiter(engine, () -> Map.of("api", API), () -> Runnable::run, Optional::empty);
        Identity caller = Identity.principal("new");
        int allowed = 0;
        for (int i = 0; i < 30; i++) {
            Decision decision = i % 2 == 0
                    ? limiter.acquire("api", caller)
                    : limiter.acquireAsync("api", caller).toCompletableFuture().join();
            allowed += decision.allowed() ? 1 : 0;
        }
        assertThat(allowed).isEqualTo(5);
        assertThat(limiter.peek("api", caller).get(0).remaining()).isZero();
    }

    @Test
    void closedRejectsAsBefore() {
        assertThat(call("new", CLOSED)).isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, "full"));
        assertThat(call("new", API, CLOSED)).isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, "full"));
        assertThat(allowed("new", API)).as("closed has spent nothing").isEqualTo(5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"caller7", "new"})
    void aPolicyInShadowModeWithoutAPlaceIsLeftOut(String caller) {
        TopKeysTracker topKeys = new TopKeysTracker(new KeyMasker(Optional.empty()), () -> time.micros() * 1_000);
        RateLimitEngine counting = RateLimitEngine.on(new FallbackBackend(backend, modes, health, Fixtures.DEADLINE))
                .topKeys(topKeys)
                .build();
        Policy shadow = Policy.builder(
                        new PolicyLimits("next", List.of(Limit.of(Algorithm.TOKEN_BUCKET, 1, Duration.ofHours(1)))),
                        KeyExpression.parse("principal", new KeyTerms(32, 64)))
                .mode(Policy.Mode.SHADOW)
                .build();
        int allowed = 0;
        for (int call = 0; call < 8; call++) {
            Binding both = call % 2 == 0 ? binding(1, API, shadow) : binding(1, shadow, API);
            Decision decision = counting.decide(both, TestCall.byPrincipal(caller), null);
            allowed += decision.allowed() ? 1 : 0;
            assertThat(decision.shadowQuotas()).isEmpty();
        }
        assertThat(allowed).isEqualTo(caller.equals("new") ? 5 : 4);
        assertThat(topKeys.top("api").rejected())
                .singleElement()
                .satisfies(top -> assertThat(top.minCount()).isEqualTo(caller.equals("new") ? 3 : 4));
        assertThat(topKeys.top("next").rejected()).isEmpty();
        assertThat(topKeys.top("next").active())
                .singleElement()
                .satisfies(top -> assertThat(top.minCount()).isEqualTo(8));
    }

    @Test
    void localCountsInItsOwnTableAsBefore() {
        Policy local = fiveAnHour("counted", FailureMode.LOCAL);
        assertThat(call("new", local)).isEqualTo(new Decision.Degraded(FailureMode.LOCAL, true, "full"));
        assertThat(allowed("new", local)).isEqualTo(4);
        for (int caller = 1; caller < MAX_KEYS; caller++) {
            assertThat(call("new" + caller, local).allowed()).isTrue();
        }
        assertThat(call("one too many", local)).isEqualTo(new Decision.Degraded(FailureMode.LOCAL, false, "full"));
    }

    @Test
    void sampleDrawsAsBefore() {
        assertThat(call("new", fiveAnHour("sampled", FailureMode.SAMPLE)))
                .isEqualTo(new Decision.Degraded(FailureMode.SAMPLE, true, "full"));
    }

    @ParameterizedTest
    @EnumSource(
            value = FailureMode.class,
            names = {"CLOSED", "LOCAL"})
    void aKnownCallerHasItsExactLimit(FailureMode mode) {
        assertThat(allowed("caller7", API)).isEqualTo(4);
        assertThat(allowed("caller8", fiveAnHour("api", mode))).isEqualTo(4);
        assertThat(failures).isEmpty();
    }

    @Test
    void newCallersAreCountedExactlyWhenPlacesAreFree() {
        assertThat(allowed("new", API)).isEqualTo(5);
        time.advanceMicros(Duration.ofHours(2).toMillis() * 1_000);
        failures.clear();
        assertThat(allowed("new", API)).isEqualTo(5);
        assertThat(allowed("newer", API)).isEqualTo(5);
        assertThat(failures).isEmpty();
        assertThat(health.report().state()).isEqualTo(BackendHealth.State.UP);
    }
}
