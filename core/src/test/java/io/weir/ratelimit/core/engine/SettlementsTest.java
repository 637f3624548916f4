// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.core.slots.DegradedReceipt;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.DecisionEvent;
import io.weir.ratelimit.spi.DecisionListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Settlements of requests, each with a limit of 100 permits. */
class SettlementsTest {
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
        return engine.quotas().peek(policy, CallContext.NONE).get(0).remaining();
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
}
