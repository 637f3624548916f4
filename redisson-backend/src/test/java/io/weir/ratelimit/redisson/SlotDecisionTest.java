// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.BackendException.Reason;
import io.weir.ratelimit.spi.BackendReceipt;
import io.weir.ratelimit.spi.Charge;
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

/** The two phases of a decision over several slots, against a store whose answers the test gives one by one. */
class SlotDecisionTest {
    private static final long NOW = 1_000_000_000L;
    private static final Duration HOUR = Duration.ofHours(1);

    /** Answers nothing by itself and keeps what it was told. */
    private static final class ManualStore implements SlotDecision.Store {
        final List<Check> asked = new ArrayList<>();
        final List<Check> refused = new ArrayList<>();
        final List<Check> givenUp = new ArrayList<>();
        final List<Charge> givenBack = new ArrayList<>();
        String faultyIdentity = "";
        boolean faultyRefusals;

        @Override
        public Check check(List<Charge> charges, boolean spends) {
            if (spends && charges.get(0).identity().equals(faultyIdentity)) {
                throw new IllegalStateException("a fault on the way");
            }
            Check check = new Check(charges, StoredKeys.of("test").of(charges), spends, 0, Long.MAX_VALUE);
            asked.add(check);
            return check;
        }

        @Override
        public void refused(Check check, Answer answer) {
            if (faultyRefusals) {
                throw new IllegalStateException("a fault on the way");
            }
            refused.add(check);
        }

        @Override
        public void giveUp(Check check) {
            givenUp.add(check);
        }

        @Override
        public void giveBack(BackendReceipt receipt) {
            receipt.use().forEach(entry -> givenBack.add(entry.charge()));
        }

        /** The last question about a key. */
        Check last(String identity) {
            return asked.stream()
                    .filter(check -> check.charges.get(0).identity().equals(identity))
                    .reduce((one, another) -> another)
                    .orElseThrow();
        }

        List<String> spending() {
            return asked.stream()
                    .filter(check -> check.spends)
                    .map(check -> check.charges.get(0).identity())
                    .toList();
        }

        /** Answers the last question about a key, all of whose limits have had as many permits spent before. */
        void answer(String identity, long spentBefore) {
            Check check = last(identity);
            List<LimitState> states = new ArrayList<>();
            boolean room = true;
            long wait = 0;
            for (Charge charge : check.charges) {
                for (Limit limit : charge.policy().limits()) {
                    LimitState state = LimitState.untouched(limit, NOW);
                    state = spentBefore == 0 ? state : state.spend(limit, spentBefore, NOW);
                    room = room && state.admits(limit, charge.cost(), charge.patienceMicros(), NOW);
                    wait = Math.max(wait, state.waitMicros(limit, charge.cost(), NOW));
                    states.add(state);
                }
            }
            boolean spent = check.spends && room;
            if (spent) {
                int i = 0;
                for (Charge charge : check.charges) {
                    for (Limit limit : charge.policy().limits()) {
                        states.set(i, states.get(i).spend(limit, charge.cost(), NOW));
                        i++;
                    }
                }
            }
            assertThat(check.complete(new Answer(states, room, spent, spent ? wait : 0, NOW, 0, 0)))
                    .as("the first answer about " + identity)
                    .isTrue();
        }

        void fail(String identity) {
            last(identity).completeExceptionally(new BackendException(Reason.TIMEOUT, "too late", null));
        }
    }

    private final ManualStore store = new ManualStore();

    private final Charge a1 = charge("a1", "A", 10);
    private final Charge a2 = charge("a2", "A", 12);
    private final Charge b1 = charge("b1", "B", 5);
    private final Charge c1 = charge("c1", "C", 20);

    private static Charge charge(String policy, String identity, long permits) {
        return new Charge(
                new PolicyLimits(policy, List.of(Limit.of(Algorithm.FIXED_WINDOW, permits, HOUR))), identity, 1);
    }

    private SlotDecision deciding(Charge... charges) {
        return within(Duration.ofMinutes(5), charges);
    }

    private SlotDecision within(Duration time, Charge... charges) {
        return new SlotDecision(
                List.of(charges), charge -> charge.identity().charAt(0), store, System.nanoTime() + time.toNanos());
    }

    private static BackendException failure(CompletableFuture<Decision> decision) {
        assertThat(decision).isCompletedExceptionally();
        try {
            throw new AssertionError("decided " + decision.join());
        } catch (CompletionException e) {
            return (BackendException) e.getCause();
        }
    }

    private static Decision decided(CompletableFuture<Decision> decision) {
        assertThat(decision).isCompleted();
        return decision.join();
    }

    private static List<String> policies(Decision decision) {
        return decision.quotas().stream().map(Quota::policy).toList();
    }

    private static List<Long> remaining(Decision decision) {
        return decision.quotas().stream().map(Quota::remaining).toList();
    }

    @Test
    void allPartsAreLookedAtAtOnceAndThoseOfOneSlotTogether() {
        CompletableFuture<Decision> decision = deciding(a1, b1, a2, c1).decide();
        assertThat(store.asked)
                .extracting(check -> check.charges)
                .containsExactly(List.of(a1, a2), List.of(b1), List.of(c1));
        assertThat(store.asked).noneMatch(check -> check.spends);
        assertThat(decision).isNotDone();
    }

    @Test
    void thePartWithTheLeastRoomIsSpentFirstAndAloneAndThenTheOthersAtOnce() {
        CompletableFuture<Decision> decision = deciding(a1, b1, a2, c1).decide();
        store.answer("C", 17);
        store.answer("A", 0);
        assertThat(store.spending()).as("before all have answered").isEmpty();
        store.answer("B", 1);
        assertThat(store.spending()).containsExactly("C");
        store.answer("C", 17);
        assertThat(store.spending()).containsExactly("C", "B", "A");
        store.answer("A", 0);
        assertThat(decision).isNotDone();
        store.answer("B", 1);
        Decision.Allowed allowed = (Decision.Allowed) decided(decision);
        assertThat(policies(allowed)).containsExactly("a1", "b1", "a2", "c1");
        assertThat(remaining(allowed)).containsExactly(9L, 3L, 11L, 2L);
        assertThat(((BackendReceipt) allowed.receipt()).charges()).containsExactly(a1, b1, a2, c1);
        assertThat(((BackendReceipt) allowed.receipt()).use())
                .allSatisfy(entry -> assertThat(entry.states()
                                .get(0)
                                .remaining(entry.charge().policy().limits().get(0), NOW))
                        .as(entry.toString())
                        .isEqualTo(allowed.quotas().stream()
                                .filter(quota -> quota.policy()
                                        .equals(entry.charge().policy().policy()))
                                .findFirst()
                                .orElseThrow()
                                .remaining()));
        assertThat(store.givenBack).isEmpty();
    }

    @Test
    void roomIsCountedInCallsLikeThisOneNotInPermits() {
        Charge dear = new Charge(a1.policy(), "A", 6);
        deciding(dear, b1).decide();
        store.answer("A", 0);
        store.answer("B", 2);
        assertThat(store.spending())
                .as("10 permits for 6 are less than 3 for 1")
                .containsExactly("A");
    }

    @Test
    void anyRefusalWhileLookingIsTheAnswerOverAllPartsAndNothingIsSpent() {
        CompletableFuture<Decision> decision = deciding(a1, b1, a2, c1).decide();
        store.answer("A", 10);
        store.answer("C", 20);
        assertThat(decision).as("while B is not known").isNotDone();
        store.answer("B", 1);
        Decision.Rejected rejected = (Decision.Rejected) decided(decision);
        assertThat(policies(rejected)).containsExactly("a1", "b1", "a2", "c1");
        assertThat(remaining(rejected)).containsExactly(0L, 4L, 2L, 0L);
        assertThat(rejected.violatedPolicies()).containsExactly("a1", "c1");
        assertThat(store.spending()).isEmpty();
        assertThat(store.givenBack).isEmpty();
        assertThat(store.refused)
                .extracting(check -> check.charges.get(0).identity())
                .containsExactly("A", "B", "C");
    }

    @Test
    void retryAfterIsTheLongestOfTheParts() {
        Charge short1 = new Charge(
                new PolicyLimits("short", List.of(Limit.of(Algorithm.FIXED_WINDOW, 1, Duration.ofSeconds(2)))), "A", 1);
        CompletableFuture<Decision> decision = deciding(short1, b1).decide();
        store.answer("A", 1);
        store.answer("B", 5);
        assertThat(((Decision.Rejected) decided(decision)).retryAfter()).hasValue(HOUR);
    }

    @Test
    void aRaceThatIsLostInTheFirstPartLeavesNothingToGiveBack() {
        CompletableFuture<Decision> decision = deciding(a1, b1).decide();
        store.answer("A", 0);
        store.answer("B", 4);
        store.answer("B", 5);
        Decision.Rejected rejected = (Decision.Rejected) decided(decision);
        assertThat(rejected.violatedPolicies()).containsExactly("b1");
        assertThat(remaining(rejected)).containsExactly(10L, 0L);
        assertThat(store.spending()).containsExactly("B");
        assertThat(store.givenBack).isEmpty();
    }

    @Test
    void aRaceThatIsLostInAnotherPartGivesBackWhatWasSpentAndTellsOfThatWhatItToldBefore() {
        CompletableFuture<Decision> decision = deciding(a1, b1, c1).decide();
        store.answer("A", 7);
        store.answer("B", 4);
        store.answer("C", 3);
        store.answer("B", 4);
        store.answer("A", 10);
        assertThat(store.givenBack).as("while C is not known").isEmpty();
        store.answer("C", 5);
        Decision.Rejected rejected = (Decision.Rejected) decided(decision);
        assertThat(rejected.violatedPolicies()).containsExactly("a1");
        assertThat(remaining(rejected)).containsExactly(0L, 1L, 17L);
        assertThat(store.givenBack).containsExactlyInAnyOrder(b1, c1);
    }

    @Test
    void whoeverHearsOfALostRaceFindsTheGiveBackSent() {
        CompletableFuture<Decision> decision = deciding(a1, b1).decide();
        CompletableFuture<List<Charge>> seen = decision.thenApply(refused -> List.copyOf(store.givenBack));
        store.answer("A", 0);
        store.answer("B", 4);
        store.answer("B", 4);
        store.answer("A", 10);
        assertThat(seen).isCompletedWithValue(List.of(b1));
    }

    @Test
    void aPartThatCannotBeLookedAtFailsTheDecisionAndNothingIsSpent() {
        CompletableFuture<Decision> decision = deciding(a1, b1).decide();
        store.fail("A");
        store.answer("B", 0);
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(store.spending()).isEmpty();
    }

    @Test
    void aPartThatFailsToBeSpentFailsTheDecisionAndTheOthersAreGivenBack() {
        CompletableFuture<Decision> decision = deciding(a1, b1, c1).decide();
        store.answer("A", 0);
        store.answer("B", 0);
        store.answer("C", 0);
        store.answer("B", 0);
        store.fail("A");
        assertThat(store.givenBack).as("while C is not known").isEmpty();
        store.answer("C", 0);
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(store.givenBack).containsExactlyInAnyOrder(b1, c1);
    }

    @Test
    void aFirstPartThatFailsEndsTheDecisionBeforeTheOthersAreAsked() {
        CompletableFuture<Decision> decision = deciding(a1, b1).decide();
        store.answer("A", 0);
        store.answer("B", 0);
        store.fail("B");
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(store.spending()).containsExactly("B");
        assertThat(store.givenBack).isEmpty();
    }

    @Test
    void aDecisionGivenUpWhileLookingSpendsNothing() {
        SlotDecision several = deciding(a1, b1);
        CompletableFuture<Decision> decision = several.decide();
        store.answer("A", 0);
        several.giveUp();
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(store.givenUp).containsExactly(store.last("B"));
        store.answer("B", 0);
        assertThat(store.spending()).isEmpty();
        assertThat(store.givenBack).isEmpty();
    }

    @Test
    void aDecisionGivenUpWhileTheFirstPartIsSpentGivesItBackOnceAndAsksNoOther() {
        SlotDecision several = deciding(a1, b1);
        several.decide();
        store.answer("A", 0);
        store.answer("B", 0);
        several.giveUp();
        several.giveUp();
        assertThat(store.givenBack).isEmpty();
        store.answer("B", 0);
        assertThat(store.spending()).containsExactly("B");
        assertThat(store.givenBack).containsExactly(b1);
    }

    @Test
    void aDecisionGivenUpWhileTheOthersAreSpentGivesEachBackOnceAsItBecomesKnown() {
        SlotDecision several = deciding(a1, b1, c1);
        CompletableFuture<Decision> decision = several.decide();
        store.answer("A", 0);
        store.answer("B", 0);
        store.answer("C", 0);
        store.answer("B", 0);
        store.answer("A", 0);
        several.giveUp();
        assertThat(store.givenUp).containsExactly(store.last("C"));
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        store.answer("C", 0);
        assertThat(store.givenBack).containsExactlyInAnyOrder(a1, b1, c1);
    }

    @Test
    void nothingIsSpentAfterTheDeadlineThoughNobodyHasGivenUpYet() {
        CompletableFuture<Decision> decision = within(Duration.ZERO, a1, b1).decide();
        store.answer("A", 0);
        store.answer("B", 0);
        assertThat(store.spending()).isEmpty();
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
    }

    @Test
    void aFirstPartSpentJustBeforeTheDeadlineIsGivenBackAndNoOtherAsked() {
        Duration soon = Duration.ofSeconds(2);
        CompletableFuture<Decision> decision = within(soon, a1, b1).decide();
        long end = System.nanoTime() + soon.toNanos();
        store.answer("A", 0);
        store.answer("B", 0);
        assertThat(store.spending()).containsExactly("B");
        Await.until("the deadline has passed", Duration.ofSeconds(20), () -> System.nanoTime() - end > 0);
        store.answer("B", 0);
        assertThat(store.spending()).containsExactly("B");
        assertThat(failure(decision).reason()).isEqualTo(Reason.TIMEOUT);
        assertThat(store.givenBack).containsExactly(b1);
    }

    @Test
    void theWaitOfAnAdmittedCallIsTheLongestOfItsParts() {
        Charge slow = waiting("slow", "A", 1);
        Charge fast = waiting("fast", "B", 10);
        CompletableFuture<Decision> decision = deciding(slow, fast).decide();
        store.answer("A", 1);
        store.answer("B", 10);
        store.answer("A", 1);
        store.answer("B", 10);
        assertThat(((Decision.Allowed) decided(decision)).waitMicros()).isEqualTo(TimeUnit.SECONDS.toMicros(1));
    }

    private static Charge waiting(String policy, String identity, long permits) {
        Limit limit =
                Limit.of(Algorithm.TOKEN_BUCKET, permits, Duration.ofSeconds(1)).withMaxWait(Duration.ofSeconds(5));
        return new Charge(new PolicyLimits(policy, List.of(limit)), identity, 1, TimeUnit.SECONDS.toMicros(5));
    }

    @Test
    void aFaultOnTheWayToAPartEndsTheDecisionAndWhatWasSpentIsGivenBack() {
        store.faultyIdentity = "A";
        CompletableFuture<Decision> decision = deciding(a1, b1, c1).decide();
        store.answer("A", 0);
        store.answer("B", 0);
        store.answer("C", 0);
        store.answer("B", 0);
        store.answer("C", 0);
        assertThat(failure(decision)).hasRootCauseMessage("a fault on the way");
        assertThat(store.givenBack).containsExactlyInAnyOrder(b1, c1);
    }

    @Test
    void aFaultWhileARefusalIsNotedEndsTheDecision() {
        store.faultyRefusals = true;
        CompletableFuture<Decision> decision = deciding(a1, b1).decide();
        store.answer("A", 10);
        store.answer("B", 0);
        assertThat(failure(decision)).hasRootCauseMessage("a fault on the way");
    }
}
