// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.engine;

import static io.weir.ratelimit.core.engine.Fixtures.binding;
import static io.weir.ratelimit.core.engine.Fixtures.engine;
import static io.weir.ratelimit.core.engine.Fixtures.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Decision;
import io.weir.ratelimit.FailureMode;
import io.weir.ratelimit.core.key.KeyExpression;
import io.weir.ratelimit.core.key.KeyTerms;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.local.LocalBackend;
import io.weir.ratelimit.core.policy.Policy;
import io.weir.ratelimit.core.request.EdgeReceipt.Result;
import io.weir.ratelimit.core.request.EdgeReceipts;
import io.weir.ratelimit.core.request.RequestState;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.CallContext;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A receipt of the edge pays for the calls of one request, whatever call or settlement claims it. */
class EdgeClaimsTest {
    private final List<Result> results = new ArrayList<>();
    private final EdgeReceipts receipts =
            new EdgeReceipts("test", "0123456789abcdef", () -> Instant.EPOCH, results::add);
    private final LocalBackend backend = new LocalBackend(100, () -> 1_000);
    private final RateLimitEngine engine = engine(backend);
    private final Policy tokens = policy("tokens", "global");
    private final Policy bytes = policy("bytes", "global");

    private RequestState request(String receipt) {
        RequestState request = new RequestState(CallContext.NONE);
        request.receipt(receipts.read(List.of(receipt)));
        return request;
    }

    /** Charges as the edge does. */
    private String charged(long cost, Policy... policies) {
        Decision decision = engine.decide(binding(cost, policies), CallContext.NONE, null);
        List<ChargeStates> charged = ((BackendReceipt) decision.receipt()).claim();
        return receipts.issue(charged).orElseThrow();
    }

    private long remaining(Policy policy) {
        return engine.keys().peek(policy, CallContext.NONE).get(0).remaining();
    }

    @Test
    void theCallsOfARequestPayTheDifferenceToTheReceipt() {
        RequestState request = request(charged(5, tokens));
        engine.decide(binding(3, tokens), CallContext.NONE, request);
        assertThat(remaining(tokens)).isEqualTo(95);
        engine.decide(binding("Search.other", 7, tokens, bytes), CallContext.NONE, request);
        assertThat(remaining(tokens)).isEqualTo(93);
        assertThat(remaining(bytes)).isEqualTo(93);
        assertThat(results).containsExactly(Result.ACCEPTED);
    }

    @Test
    void aReceiptPaysForOneRequest() {
        String receipt = charged(5, tokens);
        engine.decide(binding(5, tokens), CallContext.NONE, request(receipt));
        engine.decide(binding(5, tokens), CallContext.NONE, request(receipt));
        assertThat(remaining(tokens)).isEqualTo(90);
        assertThat(results).containsExactly(Result.ACCEPTED, Result.REPLAYED);
    }

    @Test
    void aRequestDoesNotSettleTheReceiptThatACallOfAnotherHasUsed() {
        String receipt = charged(5, tokens);
        engine.decide(binding(5, tokens), CallContext.NONE, request(receipt));
        engine.settlements().settle(request(receipt), "tokens", 0);
        assertThat(remaining(tokens)).isEqualTo(95);
        assertThat(results).containsExactly(Result.ACCEPTED, Result.REPLAYED);
    }

    @Test
    void aRequestWithoutACallSettlesTheReceiptOnce() {
        String receipt = charged(20, tokens, bytes);
        RequestState request = request(receipt);
        engine.settlements().settle(request, "other", 5);
        assertThat(results).isEmpty();
        engine.settlements().settle(request, "tokens", 5);
        engine.settlements()
                .settleAsync(request, "bytes", 30)
                .toCompletableFuture()
                .join();
        assertThat(remaining(tokens)).isEqualTo(95);
        assertThat(remaining(bytes)).isEqualTo(70);
        engine.settlements()
                .settleAsync(request(receipt), "tokens", 0)
                .toCompletableFuture()
                .join();
        engine.settlements().settle(request(receipt), "bytes", 0);
        assertThat(remaining(tokens)).isEqualTo(95);
        assertThat(remaining(bytes)).isEqualTo(70);
        assertThat(results).containsExactly(Result.ACCEPTED, Result.REPLAYED, Result.REPLAYED);
    }

    @Test
    void aCallThatWaitsForItsTurnClaimsTheReceiptAfterwards() throws Exception {
        Policy slots = Policy.builder(
                        new PolicyLimits(
                                "slots",
                                List.of(Limit.concurrency(1, Duration.ofMinutes(1))
                                        .withMaxWait(Duration.ofMinutes(1)))),
                        KeyExpression.parse("global", new KeyTerms(32, 64)))
                .build();
        Decision held = engine.decide(binding(1, slots), CallContext.NONE, null);
        CompletableFuture<Decision> first =
                engine.decideLater(binding(1, slots), CallContext.NONE, null, () -> Runnable::run);
        RequestState request = request(charged(5, tokens));
        CompletableFuture<Decision> second =
                engine.decideLater(binding(1, slots, tokens), CallContext.NONE, request, () -> Runnable::run);
        assertThat(results).isEmpty();
        engine.ends().slots().release(held.receipt());
        engine.ends().slots().release(first.join().receipt());
        assertThat(second.get(60, TimeUnit.SECONDS).allowed()).isTrue();
        assertThat(results).containsExactly(Result.ACCEPTED);
        assertThat(remaining(tokens)).isEqualTo(95);
    }

    @Test
    void aRequestWaitsOnceForABackendThatDoesNotAnswerItsClaim() {
        FakeBackend silent = new FakeBackend();
        RateLimitEngine other = engine(silent);
        RequestState request = request(charged(5, tokens));
        silent.failure = FakeBackend.down(Reason.TIMEOUT);
        Decision decision = other.decide(binding(5, tokens), CallContext.NONE, request);
        assertThat(decision).isEqualTo(new Decision.Degraded(FailureMode.OPEN, true, "timeout"));
        assertThat(silent.calls).hasSize(1).first().asString().startsWith("+receipt receipt.");
        silent.failure = null;
        other.settlements().settle(request, "tokens", 0);
        assertThat(silent.calls).hasSize(1);
        assertThat(results).containsExactly(Result.UNKNOWN);
    }

    @Test
    void aRequestWhoseBackendHasJustFailedKeepsItsReceipt() {
        FakeBackend failing = new FakeBackend();
        RateLimitEngine other = engine(failing);
        RequestState request = request(charged(5, tokens));
        failing.failure = FakeBackend.down(Reason.TIMEOUT);
        other.decide(binding(1, bytes), CallContext.NONE, request);
        other.decide(binding(1, tokens), CallContext.NONE, request);
        assertThat(failing.calls).hasSize(1);
        assertThat(results).isEmpty();
    }
}
