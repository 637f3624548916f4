// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.core.limit.BackendReceipt;
import io.weir.ratelimit.core.limit.ChargeStates;
import io.weir.ratelimit.core.limit.FixedWindowState;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.fixtures.Results;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.AcquireRequest.Operation;
import io.weir.ratelimit.redisson.script.AcquireResult;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Calls whose shadow charges time out, fail, or are their only charges, with requests that the test completes one by one. */
class ShadowAcquireTest {
    private static final long NOW = ManualSteps.NOW;
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofHours(1));
    private static final BackendException CANCELLED = new BackendException(Reason.TIMEOUT, "cancelled", null);

    private final Charge enforced = charge("api");
    private final Charge first = charge("first").asShadow();
    private final Charge second = charge("second").asShadow();
    private String faultyPolicy = "";
    private Runnable beforeSend = () -> {};

    private final ManualSteps steps = new ManualSteps() {
        @Override
        public void send(AcquireRequest request) {
            if (request.charges.get(0).policy().policy().equals(faultyPolicy)) {
                throw new IllegalStateException("a fault");
            }
            beforeSend.run();
            super.send(request);
        }
    };

    private static Charge charge(String policy) {
        return new Charge(new PolicyLimits(policy, List.of(LIMIT)), "k.a", 1);
    }

    private ShadowAcquire acquire(Charge... charges) {
        return within(Duration.ofMinutes(5), charges);
    }

    private ShadowAcquire within(Duration time, Charge... charges) {
        return new ShadowAcquire(List.of(charges), steps, System.nanoTime() + time.toNanos());
    }

    private static void complete(AcquireRequest request, boolean spent, long used) {
        List<LimitState> states = List.of(new FixedWindowState(NOW, used));
        request.complete(new AcquireResult(
                List.of(new ChargeStates(request.charges.get(0), states)), spent, spent, 0, ManualSteps.TIME));
    }

    private static void fail(AcquireRequest request) {
        request.completeExceptionally(new BackendException(Reason.FOREIGN_STATE, "foreign", null));
    }

    private Decision.Allowed allowedAlone() {
        LimitState state = new FixedWindowState(NOW, 1);
        List<Quota> quotas = List.of(state.quota(enforced, 0, true, NOW));
        return new Decision.Allowed(
                Results.of(quotas), new BackendReceipt(List.of(new ChargeStates(enforced, List.of(state)))), 7);
    }

    private static List<Charge> receiptOf(Decision decision) {
        BackendReceipt receipt = (BackendReceipt) ((Decision.Allowed) decision).receipt();
        return receipt.claim().stream().map(ChargeStates::charge).toList();
    }

    private static Reason failure(CompletableFuture<Decision> decision) {
        List<Reason> reasons = new ArrayList<>();
        assertThat(decision).isCompletedExceptionally();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(decision::join)
                .satisfies(e -> reasons.add(((BackendException) e.getCause()).reason()));
        return reasons.get(0);
    }

    @Test
    void leavesOutAShadowChargeThatFails() {
        CompletableFuture<Decision> decision =
                acquire(first, enforced, second).start().completion();
        steps.enforcedDecision.complete(allowedAlone());
        fail(steps.sent.get(0));
        complete(steps.sent.get(1), true, 3);
        assertThat(decision.join().shadowQuotas()).extracting(Quota::policy).containsExactly("second");
        assertThat(receiptOf(decision.join())).containsExactly(enforced, second);
    }

    @Test
    void allowsACallWhoseShadowChargesAllFail() {
        CompletableFuture<Decision> decision = acquire(first, enforced).start().completion();
        steps.enforcedDecision.complete(allowedAlone());
        fail(steps.sent.get(0));
        assertThat(decision.join().shadowQuotas()).isEmpty();
        assertThat(receiptOf(decision.join())).containsExactly(enforced);
    }

    @Test
    void aCallWithOnlyShadowChargesFailsIfNoneHasAResult() {
        CompletableFuture<Decision> known = acquire(first, second).start().completion();
        assertThat(steps.sent).allMatch(request -> request.operation == Operation.SPEND);
        complete(steps.sent.get(1), true, 2);
        fail(steps.sent.get(0));
        assertThat(known.join().quotas()).isEmpty();
        assertThat(known.join().shadowQuotas()).extracting(Quota::policy).containsExactly("second");
        assertThat(receiptOf(known.join())).containsExactly(second);

        CompletableFuture<Decision> unknown = acquire(first, second).start().completion();
        fail(steps.sent.get(2));
        fail(steps.sent.get(3));
        assertThat(failure(unknown)).isEqualTo(Reason.FOREIGN_STATE);
    }

    @Test
    void shadowChargesAreSpentOnceTheCallIsAllowed() {
        CompletableFuture<Decision> decision =
                acquire(first, enforced, second).start().completion();
        assertThat(steps.sent).isEmpty();
        steps.enforcedDecision.complete(allowedAlone());
        assertThat(steps.sent).extracting(request -> request.charges.get(0)).containsExactly(first, second);
        complete(steps.sent.get(1), true, 2);
        assertThat(decision).isNotDone();
        complete(steps.sent.get(0), false, 5);
        Decision.Allowed decided = (Decision.Allowed) decision.join();
        assertThat(decided.waitMicros()).isEqualTo(7);
        assertThat(decided.shadowQuotas()).extracting(Quota::rejected).containsExactly(true, false);
        assertThat(steps.cachedSpent).containsExactly(steps.sent.get(1));
        assertThat(receiptOf(decided)).containsExactly(enforced, second);
    }

    @Test
    void aRejectedCallSendsNoShadowRequest() {
        CompletableFuture<Decision> decision = acquire(first, enforced).start().completion();
        Quota rejected = new FixedWindowState(NOW, 5).quota(enforced, 0, false, NOW);
        steps.enforcedDecision.complete(new Decision.Rejected(Results.of(rejected)));
        assertThat(decision.join().shadowQuotas()).isEmpty();
        assertThat(steps.sent).isEmpty();
    }

    @Test
    void leavesOutAShadowChargeThatCannotBeSent() {
        faultyPolicy = "first";
        CompletableFuture<Decision> decision =
                acquire(first, enforced, second).start().completion();
        steps.enforcedDecision.complete(allowedAlone());
        complete(steps.sent.get(0), true, 2);
        assertThat(decision.join().shadowQuotas()).extracting(Quota::policy).containsExactly("second");
    }

    @Test
    void cancelWhileShadowChargesAreAwaitedAllowsTheCallWithoutThem() {
        ShadowAcquire call = acquire(first, enforced, second);
        CompletableFuture<Decision> decision = call.start().completion();
        steps.enforcedDecision.complete(allowedAlone());
        complete(steps.sent.get(1), true, 2);
        call.cancel(CANCELLED);
        assertThat(decision.join().shadowQuotas()).extracting(Quota::policy).containsExactly("second");
        assertThat(steps.cancelled).containsExactly(steps.sent.get(0));
        complete(steps.sent.get(0), true, 2);
        assertThat(receiptOf(decision.join())).containsExactly(enforced, second);
        assertThat(steps.refunded).isEmpty();
    }

    @Test
    void anInterruptWhileShadowChargesAreAwaitedKeepsTheDecision() {
        ShadowAcquire call = acquire(enforced, first).start();
        steps.enforcedDecision.complete(allowedAlone());
        Thread.currentThread().interrupt();
        Decision decision = new BlockingAwait(Duration.ofMinutes(5)).await(call);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(receiptOf(decision)).containsExactly(enforced);
        assertThat(steps.cancelled).isEqualTo(steps.sent);
    }

    @Test
    void sendsNoShadowRequestAfterACancel() {
        ShadowAcquire call = acquire(enforced, first, second);
        beforeSend = () -> call.cancel(CANCELLED);
        CompletableFuture<Decision> decision = call.start().completion();
        steps.enforcedDecision.complete(allowedAlone());
        assertThat(steps.sent).extracting(request -> request.charges.get(0)).containsExactly(first);
        assertThat(steps.cancelled).contains(steps.sent.get(0));
        assertThat(failure(decision)).isEqualTo(Reason.TIMEOUT);
        assertThat(steps.refunded).containsExactly(enforced);
    }

    @Test
    void theTimeoutQueueEndsTheWaitForShadowCharges() throws Exception {
        Duration deadline = Duration.ofMillis(30);
        ManualTimer timer = new ManualTimer();
        ShadowAcquire call = within(deadline, enforced, first).start();
        new TimeoutQueue(deadline, call::deadlineNanos, timer).watch(call);
        steps.enforcedDecision.complete(allowedAlone());
        assertThat(call.completion()).isNotDone();
        timer.run();
        Decision decided = call.completion().join();
        assertThat(decided.allowed()).isTrue();
        assertThat(decided.shadowQuotas()).isEmpty();
        assertThat(steps.cancelled).isEqualTo(steps.sent);
    }

    @Test
    void refundsACallThatIsAllowedAfterItWasCancelled() {
        ShadowAcquire call = acquire(first, enforced);
        CompletableFuture<Decision> decision = call.start().completion();
        call.cancel(CANCELLED);
        assertThat(failure(decision)).isEqualTo(Reason.TIMEOUT);
        steps.enforcedDecision.complete(allowedAlone());
        assertThat(steps.refunded).containsExactly(enforced);
        assertThat(steps.sent).isEmpty();
    }

    @Test
    void cancelCancelsTheDecisionOnTheEnforcedCharges() {
        ShadowAcquire call = acquire(first, enforced);
        CompletableFuture<Decision> decision = call.start().completion();
        call.cancel(CANCELLED);
        assertThat(failure(decision)).isEqualTo(Reason.TIMEOUT);
        assertThat(steps.enforcedCancelled).containsExactly(CANCELLED);
    }

    @Test
    void cancelFailsACallWithOnlyShadowChargesWithoutAResult() {
        ShadowAcquire call = acquire(first, second);
        CompletableFuture<Decision> decision = call.start().completion();
        call.cancel(CANCELLED);
        assertThat(failure(decision)).isEqualTo(Reason.TIMEOUT);
        assertThat(steps.cancelled).isEqualTo(steps.sent);
    }

    @Test
    void failsIfTheEnforcedChargesFail() {
        CompletableFuture<Decision> decision = acquire(first, enforced).start().completion();
        steps.enforcedDecision.completeExceptionally(new BackendException(Reason.CONNECTION, "gone", null));
        assertThat(failure(decision)).isEqualTo(Reason.CONNECTION);
    }
}
