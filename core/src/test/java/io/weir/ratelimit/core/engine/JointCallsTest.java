// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.Binding;
import io.weir.ratelimit.fixtures.TestCall;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Several calls are decided as one. */
class JointCallsTest {
    private static final Policy BY_USER = policy("user", "principal");
    private static final Policy BY_ADDRESS = policy("address", "ip");
    private static final Policy CLOSED = policy("closed", "ip", 1, FailureMode.CLOSED);
    private static final TestCall ALICE = TestCall.fromAddress("203.0.113.7").withPrincipal("alice");
    private static final TestCall BOB = TestCall.fromAddress("203.0.113.8").withPrincipal("bob");

    private final FakeBackend backend = new FakeBackend();

    private static RateLimitEngine.JointCall call(TestCall properties, long cost, Policy... policies) {
        List<Binding.PolicyCost> costs = new ArrayList<>();
        for (Policy policy : policies) {
            costs.add(new Binding.PolicyCost(policy, cost));
        }
        return new RateLimitEngine.JointCall(costs, properties);
    }

    private RateLimitEngine.JointDecision decide(RateLimitEngine.JointCall... calls) {
        return engine(backend)
                .decideAsync("edge", List.of(calls), Runnable::run)
                .join();
    }

    @Test
    void eachCallHasItsOwnKeys() {
        RateLimitEngine.JointDecision joint = decide(call(ALICE, 1, BY_USER, BY_ADDRESS), call(BOB, 2, BY_USER));
        assertThat(backend.calls).containsExactly("user p.alice 1 & address i.203.0.113.7 1 & user p.bob 2");
        assertThat(joint.decision().allowed()).isTrue();
        assertThat(joint.results()).extracting(List::size).containsExactly(2, 1);
    }

    @Test
    void callsWithOneKeyShareACharge() {
        RateLimitEngine.JointDecision joint =
                decide(call(ALICE, 1, BY_USER), call(ALICE, 2, BY_USER), call(BOB, 1, BY_USER));
        assertThat(backend.calls).containsExactly("user p.alice 3 & user p.bob 1");
        assertThat(joint.results()).extracting(List::size).containsExactly(1, 1, 1);
        assertThat(joint.results().get(0)).isEqualTo(joint.results().get(1));
    }

    @Test
    void theStrictestFailureModeApplies() {
        backend.failure = FakeBackend.down(Reason.TIMEOUT);
        RateLimitEngine.JointDecision joint = decide(call(ALICE, 1, BY_USER), call(ALICE, 1, CLOSED));
        assertThat(joint.decision()).isEqualTo(new Decision.Degraded(FailureMode.CLOSED, false, "timeout"));
        assertThat(joint.results()).allMatch(List::isEmpty);
    }

    @Test
    void noCallTakesASlot() {
        Limit perHour = Limit.of(Algorithm.FIXED_WINDOW, 10, Duration.ofHours(1));
        Limit slots = Limit.concurrency(1, Duration.ofMinutes(1));
        Policy both = BY_USER.withLimits(new PolicyLimits("user", List.of(slots, perHour)));
        Policy slotsOnly = BY_ADDRESS.withLimits(new PolicyLimits("address", List.of(slots)));
        List<DecisionEvent> events = new ArrayList<>();
        RateLimitEngine engine = engine(backend, events::add);
        engine.decideAsync("edge", List.of(call(ALICE, 2, both, slotsOnly)), Runnable::run)
                .join();
        assertThat(events)
                .singleElement()
                .satisfies(event -> assertThat(event.charges()).singleElement().satisfies(charge -> {
                    assertThat(charge.policy().limits()).containsExactly(perHour);
                    assertThat(charge.policy().limitName(0)).isEqualTo("user-1h");
                    assertThat(charge.cost()).isEqualTo(2);
                }));
        RateLimitEngine.JointDecision unlimited = engine.decideAsync(
                        "edge", List.of(call(ALICE, 1, slotsOnly)), Runnable::run)
                .join();
        assertThat(unlimited.decision()).isEqualTo(Decision.Allowed.UNLIMITED);
        assertThat(unlimited.results()).containsExactly(List.of());
    }

    @Test
    void listenersAreNotifiedOnce() {
        List<DecisionEvent> events = new ArrayList<>();
        engine(backend, events::add)
                .decideAsync("edge", List.of(call(ALICE, 1, BY_USER), call(BOB, 1, BY_ADDRESS)), Runnable::run)
                .join();
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.endpoint()).isEqualTo("edge");
            assertThat(event.charges()).hasSize(2);
        });
    }
}
