// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.client.outgoing;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Identity;
import io.weir.ratelimit.client.outgoing.OutgoingCall.Attempt;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The parts that keep retries and pauses of one client. */
class RetriesTest {
    private static final Attempt CALL = new Attempt(1, 2, 3);

    private long nanos;

    private static int takeAll(RetryBudget budget) {
        int taken = 0;
        while (budget.tryTake()) {
            taken++;
        }
        return taken;
    }

    private static int takeAll(List<RetryBudget> budgets) {
        return budgets.stream().mapToInt(RetriesTest::takeAll).sum();
    }

    @Test
    void budgetGrowsWithOrdinaryCalls() {
        RetryBudget budget = new RetryBudget(10, () -> 1, () -> nanos);
        assertThat(takeAll(budget)).isEqualTo(RetryBudget.RESERVE);
        for (int i = 0; i < 29; i++) {
            budget.addOrdinary();
        }
        assertThat(takeAll(budget)).isEqualTo(2);
        budget.addOrdinary();
        assertThat(takeAll(budget)).isEqualTo(1);
    }

    @Test
    void budgetSavesAFewRetriesOnly() {
        RetryBudget budget = new RetryBudget(100, () -> 1, () -> nanos);
        for (int i = 0; i < 1_000; i++) {
            budget.addOrdinary();
        }
        assertThat(takeAll(budget)).isEqualTo(RetryBudget.RESERVE);
        budget.giveBack();
        assertThat(takeAll(budget)).isEqualTo(1);
    }

    /** A caller that polls a failing upstream is no storm. */
    @Test
    @Tag("field")
    void budgetAddsARetryEachSecond() {
        RetryBudget budget = new RetryBudget(10, () -> 1, () -> nanos);
        takeAll(budget);
        nanos += 999_999_999;
        assertThat(budget.tryTake()).isFalse();
        nanos += 1;
        assertThat(takeAll(budget)).isEqualTo(1);
        nanos += TimeUnit.DAYS.toNanos(1);
        assertThat(takeAll(budget)).isEqualTo(RetryBudget.RESERVE);
        nanos -= TimeUnit.SECONDS.toNanos(5);
        assertThat(budget.tryTake()).as("the time of another thread is earlier").isFalse();
    }

    /** Retries that do not depend on ordinary calls would otherwise grow with the number of instances. */
    @Test
    void instancesShareTheBudget() {
        AtomicInteger instances = new AtomicInteger(5);
        List<RetryBudget> budgets = Stream.generate(() -> new RetryBudget(10, instances::get, () -> nanos))
                .limit(5)
                .toList();
        assertThat(takeAll(budgets)).isEqualTo(RetryBudget.RESERVE);
        nanos += TimeUnit.SECONDS.toNanos(7);
        assertThat(takeAll(budgets)).isEqualTo(5);
        nanos += TimeUnit.SECONDS.toNanos(3);
        assertThat(takeAll(budgets)).as("ten in ten seconds").isEqualTo(5);
        nanos += TimeUnit.DAYS.toNanos(1);
        assertThat(takeAll(budgets)).isEqualTo(RetryBudget.RESERVE);

        instances.set(50);
        nanos += TimeUnit.DAYS.toNanos(1);
        assertThat(takeAll(budgets)).as("each can save one").isEqualTo(5);
        for (int call = 0; call < 10; call++) {
            budgets.get(0).addOrdinary();
        }
        assertThat(takeAll(budgets))
                .as("the share of ordinary calls is not divided")
                .isEqualTo(1);
    }

    @Test
    void shareOfZeroAllowsNoRetry() {
        RetryBudget budget = new RetryBudget(0, () -> 1, () -> nanos);
        budget.addOrdinary();
        budget.giveBack();
        nanos += TimeUnit.MINUTES.toNanos(1);
        assertThat(budget.tryTake()).isFalse();
    }

    @Test
    void anySequenceOfCallsKeepsTheShare() {
        long seed = Long.getLong("weir.test.seed", 1);
        System.out.printf("retry budget: -Dweir.test.seed=%d%n", seed);
        Random random = new Random(seed);
        for (int run = 0; run < 200; run++) {
            int percent = random.nextInt(101);
            RetryBudget budget = new RetryBudget(percent, () -> 1, () -> nanos);
            long ordinary = 0;
            long retries = 0;
            for (int i = 0; i < 500; i++) {
                if (random.nextBoolean()) {
                    budget.addOrdinary();
                    ordinary++;
                } else if (budget.tryTake()) {
                    retries++;
                }
                assertThat(100 * retries).isLessThanOrEqualTo(100L * RetryBudget.RESERVE + percent * ordinary);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {408, 429, 500, 503})
    void sameCallAfterAFailureIsARetry(int status) {
        RecentAttempts attempts = new RecentAttempts(() -> nanos);
        assertThat(attempts.isRetry(CALL)).isFalse();
        attempts.begin(CALL);
        attempts.end(CALL, status);
        assertThat(attempts.isRetry(CALL)).isTrue();
        assertThat(attempts.isRetry(new Attempt(9, 2, 3))).as("another caller").isFalse();
        assertThat(attempts.isRetry(new Attempt(1, 9, 3))).as("another URI").isFalse();
        assertThat(attempts.isRetry(new Attempt(1, 2, 9))).as("another entity").isFalse();
    }

    @Test
    void sameCallWithoutAnAnswerIsARetryForAWhile() {
        RecentAttempts attempts = new RecentAttempts(() -> nanos);
        attempts.begin(CALL);
        nanos += TimeUnit.SECONDS.toNanos(RecentAttempts.LIFETIME_SECONDS) - 1;
        assertThat(attempts.isRetry(CALL)).isTrue();
        nanos += 1;
        assertThat(attempts.isRetry(CALL)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 204, 302, 400, 404, 499})
    void sameCallAfterAnAnswerIsNoRetry(int status) {
        RecentAttempts attempts = new RecentAttempts(() -> nanos);
        attempts.begin(CALL);
        attempts.end(CALL, status);
        assertThat(attempts.isRetry(CALL)).isFalse();
        assertThat(attempts.size()).isZero();
    }

    @Test
    void attemptsAreBounded() {
        RecentAttempts attempts = new RecentAttempts(() -> nanos);
        attempts.begin(CALL);
        for (int i = 0; i < RecentAttempts.MAXIMUM; i++) {
            attempts.begin(new Attempt(7, i, 0));
        }
        assertThat(attempts.size()).isEqualTo(RecentAttempts.MAXIMUM);
        assertThat(attempts.isRetry(CALL)).isFalse();
        assertThat(attempts.isRetry(new Attempt(7, 0, 0))).isTrue();
    }

    @Test
    void pauseEndsByItselfAndIsNeverShortened() {
        LocalPauses pauses = new LocalPauses(() -> nanos);
        Identity key = Identity.of("partner");
        pauses.pause(key, 100);
        pauses.pause(key, 50);
        assertThat(pauses.restMicros(key)).isEqualTo(100);
        assertThat(pauses.restMicros(Identity.of("other"))).isZero();
        nanos += 99_001;
        assertThat(pauses.restMicros(key)).isEqualTo(1);
        nanos += 999;
        assertThat(pauses.restMicros(key)).isZero();
        assertThat(pauses.size()).isZero();
    }

    @Test
    void pausesAreBounded() {
        LocalPauses pauses = new LocalPauses(() -> nanos);
        for (int i = 0; i < LocalPauses.MAXIMUM + 10; i++) {
            pauses.pause(Identity.of("key" + i), 100);
        }
        assertThat(pauses.size()).isEqualTo(LocalPauses.MAXIMUM);
        nanos += 100_000;
        pauses.pause(Identity.of("later"), 100);
        assertThat(pauses.size()).isEqualTo(1);
    }
}
