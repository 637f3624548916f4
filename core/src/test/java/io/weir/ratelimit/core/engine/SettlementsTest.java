// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.request.ReservedCharges;
import io.weir.ratelimit.core.slots.DegradedReceipt;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.SettlesCharges;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Settlements of requests, each with a limit of 100 permits. */
class SettlementsTest {
    private static final LimitState STATE =
            LimitState.untouched(Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofMinutes(1)), 1_000);

    private final List<String> settled = new ArrayList<>();
    private final LocalBackend backend = new LocalBackend(100, () -> 1_000);
    private final RateLimitEngine engine = engine(backend, new DecisionListener() {
        @Override
        public void onDecision(DecisionEvent event) {}

        @Override
        public void onSettle(List<Charge> charges, long actualCost) {
            charges.forEach(charge -> settled.add(charge.policy().policy() + " " + charge.cost() + " " + actualCost));
        }
    });
    private final Policy tokens = policy("tokens", "global");
    private final Policy bytes = policy("bytes", "global");
    private final RequestState request = new RequestState(CallContext.NONE);

    private Decision decide(long cost, Policy... policies) {
        return engine.decide(binding(cost, policies), CallContext.NONE, request);
    }

    private long remaining(Policy policy) {
        return engine.keys().peek(policy, CallContext.NONE).get(0).remaining();
    }

    @Test
    void settlesTheChargeOfOnePolicyOnly() {
        decide(20, tokens, bytes);
        engine.settlements().settle(request, "tokens", 5);
        assertThat(remaining(tokens)).isEqualTo(95);
        assertThat(remaining(bytes)).isEqualTo(80);
        engine.settlements().settle(request, "bytes", 110);
        assertThat(remaining(bytes)).isZero();
        assertThat(settled).containsExactly("tokens 20 5", "bytes 20 110");
    }

    @Test
    void settlesEachChargeOnce() {
        decide(20, tokens);
        engine.settlements().settle(request, "tokens", 30);
        engine.settlements().settle(request, "tokens", 40);
        engine.settlements().settle(request, "other", 40);
        assertThat(remaining(tokens)).isEqualTo(70);
        assertThat(settled).containsExactly("tokens 20 30");
    }

    @Test
    void settlesSeveralChargesOfARequestAsOne() {
        for (long[] actualAndRemaining : new long[][] {{50, 50}, {25, 75}, {5, 95}, {0, 100}, {130, 0}}) {
            RequestState other = new RequestState(CallContext.NONE);
            backend.reset(List.of(tokens.limits()), "all");
            engine.decide(binding(10, tokens), CallContext.NONE, other);
            engine.decide(binding("Search.dear", 30, tokens), CallContext.NONE, other);
            assertThat(remaining(tokens)).as("the difference was charged").isEqualTo(70);
            engine.settlements().settle(other, "tokens", actualAndRemaining[0]);
            assertThat(remaining(tokens)).isEqualTo(actualAndRemaining[1]);
        }
        assertThat(settled).startsWith("tokens 10 10", "tokens 20 40", "tokens 10 10", "tokens 20 15", "tokens 10 5");
    }

    @Test
    void refundedChargesAreNotSettled() {
        Decision refunded = decide(20, tokens);
        backend.refund(((Decision.Allowed) refunded).receipt())
                .toCompletableFuture()
                .join();
        engine.settlements().settle(request, "tokens", 90);
        assertThat(remaining(tokens)).isEqualTo(100);
        assertThat(settled).isEmpty();
    }

    @Test
    void requestWithoutChargesIsNotSettled() {
        engine.settlements().settle(request, "tokens", 90);
        engine.settlements()
                .settleAsync(request, "tokens", 90)
                .toCompletableFuture()
                .join();
        assertThat(remaining(tokens)).isEqualTo(100);
    }

    @Test
    void settlesWithoutBlocking() {
        decide(20, tokens);
        engine.settlements()
                .settleAsync(request, "tokens", 30)
                .toCompletableFuture()
                .join();
        assertThat(remaining(tokens)).isEqualTo(70);
        assertThat(settled).containsExactly("tokens 20 30");
    }

    @Test
    void rejectsANegativeCost() {
        assertThatThrownBy(() -> engine.settlements().settle(request, "tokens", -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the actual cost must not be negative");
        assertThatThrownBy(() -> engine.settlements().settleAsync(Receipt.EMPTY, -1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void reportsABackendThatCannotSettle() {
        RateLimitEngine other = engine(new FakeBackend());
        Receipt charged = new Receipt() {};
        assertThatThrownBy(() -> other.settlements().settle(charged, 1))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessage("the backend fake does not implement SettlesCharges");
        assertThatThrownBy(() -> other.settlements()
                        .settleAsync(charged, 1)
                        .toCompletableFuture()
                        .join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void aReceiptOfAnOutageNeedsNoBackend() {
        RateLimitEngine other = engine(new FakeBackend());
        DegradedReceipt degraded = new DegradedReceipt(new BackendReceipt(List.of()));
        for (Receipt receipt : List.of(Receipt.EMPTY, degraded)) {
            assertThatCode(() -> other.settlements().settle(receipt, 1)).doesNotThrowAnyException();
            assertThat(other.settlements().settleAsync(receipt, 1)).isCompleted();
        }
    }

    /** A backend that allows each call, and counts the settlements. */
    private final class Unlimited extends FakeBackend implements SettlesCharges {
        private final List<Long> settlements = new ArrayList<>();

        @Override
        public Decision acquire(List<Charge> charges) {
            return new Decision.Allowed(
                    List.of(),
                    new BackendReceipt(charges.stream()
                            .map(charge -> new ChargeStates(charge, List.of(STATE)))
                            .toList()));
        }

        @Override
        public CompletionStage<List<Charge>> settle(Receipt receipt, Predicate<Charge> selection, long actualCost) {
            settlements.add(actualCost);
            return CompletableFuture.completedStage(((BackendReceipt) receipt)
                    .settle(selection, actualCost).stream()
                            .map(ChargeStates::charge)
                            .toList());
        }
    }

    @Test
    void aRequestKeepsTheLatestChargesOfEachPolicyAndTheSumOfTheOthers() {
        Unlimited unlimited = new Unlimited();
        RateLimitEngine other = engine(unlimited);
        other.decide(binding("Search.page", 7, bytes), CallContext.NONE, request);
        for (int call = 0; call < 100_000; call++) {
            other.decide(binding(3, tokens), CallContext.NONE, request);
        }
        ReservedCharges reserved = request.quotas().reserved();
        assertThat(reserved.take("bytes").charges()).as("a rare policy").hasSize(1);
        ReservedCharges.OfPolicy kept = reserved.take("tokens");
        assertThat(kept.charges()).hasSizeBetween(ReservedCharges.LATEST, 3 * ReservedCharges.LATEST);
        assertThat(kept.earlierCost() + 3L * kept.charges().size()).isEqualTo(300_000);
    }

    @Test
    void aSettlementNeedsNoCallOfTheBackendForUnchangedCharges() {
        for (long difference : new long[] {0, 5, -2, -6}) {
            Unlimited unlimited = new Unlimited();
            RateLimitEngine other = engine(unlimited);
            RequestState batch = new RequestState(CallContext.NONE);
            for (int call = 0; call < 10_000; call++) {
                other.decide(binding(3, tokens), CallContext.NONE, batch);
            }
            other.settlements().settle(batch, "tokens", 30_000 + difference);
            assertThat(unlimited.settlements)
                    .as("difference %d", difference)
                    .isEqualTo(
                            difference == 0 ? List.of() : difference == -6 ? List.of(0L, 0L) : List.of(3 + difference));
            other.settlements().settle(batch, "tokens", 1);
            assertThat(unlimited.settlements)
                    .as("a second settlement")
                    .hasSize(difference == 0 ? 0 : difference == -6 ? 2 : 1);
            other.decide(binding(3, tokens), CallContext.NONE, batch);
            other.settlements().settle(batch, "tokens", 4);
            assertThat(unlimited.settlements).as("a later charge").endsWith(4L);
        }
    }

    @Test
    void aPolicyWhoseChargesAreNoLongerKeptHasBeenPaid() {
        RateLimitEngine other = engine(new Unlimited());
        for (int call = 0; call < 1_000; call++) {
            Decision decision = other.decide(binding(1, call == 0 ? bytes : tokens), CallContext.NONE, request);
            ((BackendReceipt) decision.receipt()).claim();
        }
        assertThat(other.settlements().hasPaid(request, "bytes")).isTrue();
        assertThat(other.settlements().hasPaid(request, "others")).isFalse();
    }
}
