// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.FixedWindowState;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.LimitState;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What becomes of a call whose shadow charges are late, fail, or are all that it has; with answers given by hand. */
class ShadowDecisionTest {
    private static final long NOW = 1_000;
    private static final Limit LIMIT = Limit.of(Algorithm.FIXED_WINDOW, 5, Duration.ofHours(1));

    private final ManualStore store = new ManualStore();
    private final Charge enforced = charge("api");
    private final Charge first = charge("first").asShadow();
    private final Charge second = charge("second").asShadow();

    private static Charge charge(String policy) {
        return new Charge(new PolicyLimits(policy, List.of(LIMIT)), "k.a", 1);
    }

    private static final class ManualStore implements ShadowDecision.Store {
        final List<Check> sent = new ArrayList<>();
        final List<Check> spent = new ArrayList<>();
        final List<Check> givenUp = new ArrayList<>();
        final List<Charge> givenBack = new ArrayList<>();
        final CompletableFuture<Decision> alone = new CompletableFuture<>();
        String faultyPolicy = "";

        @Override
        public Check check(List<Charge> charges) {
            return new Check(charges, StoredKeys.of("test").of(charges), true, 0, Long.MAX_VALUE);
        }

        @Override
        public void send(Check check) {
            if (check.charges.get(0).policy().policy().equals(faultyPolicy)) {
                throw new IllegalStateException("a fault on the way");
            }
            sent.add(check);
        }

        @Override
        public void watch(Check check) {
            assertThat(sent).contains(check);
        }

        @Override
        public Decision decided(Check check, Answer answer) {
            return answer.decision(check.charges);
        }

        @Override
        public CompletableFuture<Decision> decide(List<Charge> charges) {
            return alone;
        }

        @Override
        public void spent(Check check) {
            spent.add(check);
        }

        @Override
        public void giveUp(Check check) {
            givenUp.add(check);
        }

        @Override
        public void giveBack(BackendReceipt receipt) {
            receipt.use().forEach(entry -> givenBack.add(entry.charge()));
        }
    }

    private ShadowDecision deciding(Charge... charges) {
        return within(Duration.ofMinutes(5), charges);
    }

    private ShadowDecision within(Duration time, Charge... charges) {
        return new ShadowDecision(List.of(charges), store, System.nanoTime() + time.toNanos());
    }

    private static Answer answer(boolean spent, long used) {
        return new Answer(List.of(new FixedWindowState(NOW, used)), spent, spent, 0, NOW, 0, 0);
    }

    private static void fail(Check check) {
        check.completeExceptionally(new BackendException(Reason.FOREIGN_STATE, "not ours", null));
    }

    private Decision.Allowed admittedAlone() {
        LimitState state = new FixedWindowState(NOW, 1);
        List<Quota> quotas = List.of(enforced.policy().quota(0, state, 1, 0, true, NOW));
        return new Decision.Allowed(quotas, new BackendReceipt(List.of(enforced), List.of(state)), 7);
    }

    private static List<Charge> receiptOf(Decision decision) {
        BackendReceipt receipt = (BackendReceipt) ((Decision.Allowed) decision).receipt();
        return receipt.use().stream().map(BackendReceipt.Entry::charge).toList();
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
    void inOneSlotTheShadowsTravelWithTheirCall() {
        CompletableFuture<Decision> decision = deciding(first, enforced, second).decide(true);
        Check call = store.sent.get(0);
        assertThat(store.sent).hasSize(1);
        assertThat(call.charges).containsExactly(enforced);
        assertThat(call.shadows).extracting(check -> check.charges.get(0)).containsExactly(first, second);
        assertThat(call.shadows).allMatch(check -> check.follows);
        call.shadows.get(0).complete(answer(false, 5));
        call.shadows.get(1).complete(answer(true, 3));
        call.complete(answer(true, 1));
        Decision told = decision.join();
        assertThat(told.quotas()).extracting(Quota::remaining).containsExactly(4L);
        assertThat(told.shadow()).extracting(Quota::refused).containsExactly(true, false);
        assertThat(store.spent).containsExactly(call.shadows.get(1));
        assertThat(receiptOf(told)).containsExactly(enforced, second);
    }

    @Test
    void aShadowThatFailsIsLeftOut() {
        CompletableFuture<Decision> decision = deciding(first, enforced, second).decide(true);
        Check call = store.sent.get(0);
        fail(call.shadows.get(0));
        call.shadows.get(1).complete(answer(true, 3));
        call.complete(answer(true, 1));
        assertThat(decision.join().shadow()).extracting(Quota::policy).containsExactly("second");
        assertThat(receiptOf(decision.join())).containsExactly(enforced, second);
    }

    @Test
    void aCallThatFailsFailsWhateverItsShadowsSay() {
        CompletableFuture<Decision> decision = deciding(enforced, first).decide(true);
        Check call = store.sent.get(0);
        call.shadows.get(0).complete(answer(false, 3));
        fail(call);
        assertThat(failure(decision)).isEqualTo(Reason.FOREIGN_STATE);
    }

    @Test
    void ofACallWithOnlyShadowsOneAnswerIsEnoughAndNoneFailsIt() {
        CompletableFuture<Decision> known = deciding(first, second).decide(true);
        Check head = store.sent.get(0);
        assertThat(head.follows).isFalse();
        assertThat(head.shadows).noneMatch(check -> check.follows);
        head.shadows.get(0).complete(answer(true, 2));
        fail(head);
        assertThat(known.join().quotas()).isEmpty();
        assertThat(known.join().shadow()).extracting(Quota::policy).containsExactly("second");
        assertThat(receiptOf(known.join())).containsExactly(second);

        CompletableFuture<Decision> unknown = deciding(first, second).decide(true);
        fail(store.sent.get(1).shadows.get(0));
        fail(store.sent.get(1));
        assertThat(failure(unknown)).isEqualTo(Reason.FOREIGN_STATE);
    }

    @Test
    void inSeveralSlotsShadowsAreSpentOnceTheCallIsAdmitted() {
        CompletableFuture<Decision> decision = deciding(first, enforced, second).decide(false);
        assertThat(store.sent).isEmpty();
        store.alone.complete(admittedAlone());
        assertThat(store.sent).extracting(check -> check.charges.get(0)).containsExactly(first, second);
        store.sent.get(1).complete(answer(true, 2));
        assertThat(decision).isNotDone();
        store.sent.get(0).complete(answer(false, 5));
        Decision.Allowed told = (Decision.Allowed) decision.join();
        assertThat(told.waitMicros()).isEqualTo(7);
        assertThat(told.shadow()).extracting(Quota::refused).containsExactly(true, false);
        assertThat(receiptOf(told)).containsExactly(enforced, second);
    }

    @Test
    void inSeveralSlotsARefusedCallAsksForNoShadow() {
        CompletableFuture<Decision> decision = deciding(first, enforced).decide(false);
        Quota refused = enforced.policy().quota(0, new FixedWindowState(NOW, 5), 1, 0, false, NOW);
        store.alone.complete(new Decision.Rejected(List.of(refused)));
        assertThat(decision.join().shadow()).isEmpty();
        assertThat(store.sent).isEmpty();
    }

    @Test
    void inSeveralSlotsAShadowThatCannotBeSentIsLeftOut() {
        store.faultyPolicy = "first";
        CompletableFuture<Decision> decision = deciding(first, enforced, second).decide(false);
        store.alone.complete(admittedAlone());
        store.sent.get(0).complete(answer(true, 2));
        assertThat(decision.join().shadow()).extracting(Quota::policy).containsExactly("second");
    }

    @Test
    void whoGivesUpWaitingForShadowsIsAdmittedWithoutThem() {
        ShadowDecision call = deciding(first, enforced, second);
        CompletableFuture<Decision> decision = call.decide(false);
        store.alone.complete(admittedAlone());
        store.sent.get(1).complete(answer(true, 2));
        call.giveUp();
        assertThat(decision.join().shadow()).extracting(Quota::policy).containsExactly("second");
        assertThat(store.givenUp).containsExactly(store.sent.get(0));
        store.sent.get(0).complete(answer(true, 2));
        assertThat(receiptOf(decision.join())).containsExactly(enforced, second);
        assertThat(store.givenBack).isEmpty();
    }

    @Test
    void withoutACallerWhoWaitsTheDeadlineGivesUpOnShadows() throws Exception {
        CompletableFuture<Decision> decision =
                within(Duration.ofMillis(30), enforced, first).decide(false);
        store.alone.complete(admittedAlone());
        Decision told = decision.get(10, TimeUnit.SECONDS);
        assertThat(told.allowed()).isTrue();
        assertThat(told.shadow()).isEmpty();
        Await.until("the check is given up", Duration.ofSeconds(10), () -> store.givenUp.equals(store.sent));
    }

    @Test
    void whatIsAdmittedAfterItsCallerGaveUpIsGivenBackAndNoShadowSpent() {
        ShadowDecision call = deciding(first, enforced);
        CompletableFuture<Decision> decision = call.decide(false);
        call.giveUp();
        assertThat(failure(decision)).isEqualTo(Reason.TIMEOUT);
        store.alone.complete(admittedAlone());
        assertThat(store.givenBack).containsExactly(enforced);
        assertThat(store.sent).isEmpty();
    }

    @Test
    void inOneSlotGivingUpTakesTheCallOffTheQueue() {
        ShadowDecision call = deciding(first, enforced);
        CompletableFuture<Decision> decision = call.decide(true);
        call.giveUp();
        assertThat(failure(decision)).isEqualTo(Reason.TIMEOUT);
        assertThat(store.givenUp).containsExactly(store.sent.get(0));
    }

    @Test
    void aCallThatFailsAloneFails() {
        CompletableFuture<Decision> decision = deciding(first, enforced).decide(false);
        store.alone.completeExceptionally(new BackendException(Reason.CONNECTION, "gone", null));
        assertThat(failure(decision)).isEqualTo(Reason.CONNECTION);
    }
}
