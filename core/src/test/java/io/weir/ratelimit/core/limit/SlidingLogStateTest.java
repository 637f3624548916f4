// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SlidingLogStateTest {
    private static final long WINDOW = 60_000_000;
    private final Limit limit = log(10);

    private static Limit log(long permits) {
        return Limit.of(Algorithm.SLIDING_LOG, permits, Duration.ofMinutes(1));
    }

    /** Returns the state after some spends, given as pairs of time and cost. */
    private static SlidingLogState spent(long... timesAndCosts) {
        SlidingLogState state = SlidingLogState.EMPTY;
        for (int i = 0; i < timesAndCosts.length; i += 2) {
            state = state.spend(log(10_000), timesAndCosts[i + 1], timesAndCosts[i]);
        }
        return state;
    }

    @Test
    void anEntryCountsForOneWindow() {
        SlidingLogState state = spent(100, 4, 130, 2);
        assertThat(state.asOf(limit, 99 + WINDOW)).isSameAs(state);
        assertThat(state.asOf(limit, 100 + WINDOW)).isEqualTo(spent(130, 2));
        assertThat(state.asOf(limit, 129 + WINDOW)).isEqualTo(spent(130, 2));
        assertThat(state.asOf(limit, 130 + WINDOW)).isEqualTo(LimitState.untouched(limit, 130 + WINDOW));
    }

    @Test
    void callsOfOneMicrosecondShareAnEntry() {
        assertThat(spent(100, 4, 100, 3, 130, 1, 130, 1)).isEqualTo(spent(100, 7, 130, 2));
        assertThat(spent(100, 4, 100, 3)).hasToString("SlidingLogState[100: 7]");
    }

    @Test
    void permitsReturnInTheOrderInWhichTheyWereSpent() {
        SlidingLogState state = spent(100, 4, 130, 3, 150, 2);
        assertThat(state.spent()).isEqualTo(9);
        assertThat(state.remaining(limit, 160)).isEqualTo(1);
        assertThat(state.retryAfterMicros(limit, 1, 160)).isZero();
        assertThat(state.retryAfterMicros(limit, 2, 160)).isEqualTo(WINDOW - 60);
        assertThat(state.retryAfterMicros(limit, 5, 160)).isEqualTo(WINDOW - 60);
        assertThat(state.retryAfterMicros(limit, 6, 160)).isEqualTo(WINDOW - 30);
        assertThat(state.retryAfterMicros(limit, 8, 160)).isEqualTo(WINDOW - 30);
        assertThat(state.retryAfterMicros(limit, 9, 160)).isEqualTo(WINDOW - 10);
        assertThat(state.retryAfterMicros(limit, 11, 160)).isEqualTo(Micros.NEVER);
        assertThat(state.retryAfterMicros(limit, Long.MAX_VALUE, 160)).isEqualTo(Micros.NEVER);
        assertThat(state.resetAfterMicros(limit, 160)).isEqualTo(WINDOW - 10);
        assertThat(SlidingLogState.EMPTY.resetAfterMicros(limit, 160)).isZero();
    }

    @Test
    void permitsAboveALoweredLimitCountUntilTheirWindowHasPassed() {
        SlidingLogState state = spent(100, 4, 130, 3, 150, 2);
        assertThat(state.asOf(log(4), 160)).isSameAs(state);
        assertThat(state.remaining(log(4), 160)).isZero();
        assertThat(state.retryAfterMicros(log(4), 1, 160)).as("6 must go").isEqualTo(WINDOW - 30);
        assertThat(state.retryAfterMicros(log(4), 3, 160)).as("8 must go").isEqualTo(WINDOW - 10);
        assertThat(state.retryAfterMicros(log(0), 1, 160)).isEqualTo(Micros.NEVER);
        assertThat(state.remaining(log(12), 160)).isEqualTo(3);
    }

    @Test
    void entriesFromTheFutureMoveToNow() {
        SlidingLogState state = spent(100, 4, 130, 3, 150, 2);
        assertThat(state.asOf(limit, 140)).isEqualTo(spent(100, 4, 130, 3, 140, 2));
        assertThat(state.asOf(limit, 130)).isEqualTo(spent(100, 4, 130, 5));
        assertThat(state.asOf(limit, 100)).isEqualTo(spent(100, 9));
        assertThat(state.asOf(limit, 40)).isEqualTo(spent(40, 9));
        assertThat(state.asOf(limit, 40).asOf(limit, 150)).isEqualTo(spent(40, 9));
        assertThat(state.isAfter(149)).isTrue();
        assertThat(state.isAfter(150)).isFalse();
        assertThat(SlidingLogState.EMPTY.isAfter(-1)).isFalse();
    }

    @Test
    void expiredEntriesEndAndFutureEntriesMoveToNowWhenTheClockStepsBack() {
        SlidingLogState state = spent(100, 4, 101 + WINDOW, 3);
        assertThat(state.asOf(limit, 100 + WINDOW)).isEqualTo(spent(100 + WINDOW, 3));
        assertThat(state.asOf(limit, 99 + WINDOW)).isEqualTo(spent(100, 4, 99 + WINDOW, 3));
    }

    @Test
    void twoSpendsOfOneStateMakeTwoStates() {
        SlidingLogState state = spent(100, 4, 130, 1);
        SlidingLogState one = state.spend(limit, 1, 150);
        SlidingLogState other = state.spend(limit, 2, 160);
        SlidingLogState same = state.spend(limit, 3, 130);
        SlidingLogState later = same.spend(limit, 1, 170);
        assertThat(state).isEqualTo(spent(100, 4, 130, 1));
        assertThat(one).isEqualTo(spent(100, 4, 130, 1, 150, 1));
        assertThat(other).isEqualTo(spent(100, 4, 130, 1, 160, 2));
        assertThat(same).isEqualTo(spent(100, 4, 130, 4));
        assertThat(later).isEqualTo(spent(100, 4, 130, 4, 170, 1));
        assertThat(one.spend(limit, 1, 180)).isEqualTo(spent(100, 4, 130, 1, 150, 1, 180, 1));
        assertThat(other.spend(limit, 1, 180)).isEqualTo(spent(100, 4, 130, 1, 160, 2, 180, 1));
    }

    @Test
    void refundReducesTheEntryOfTheCharge() {
        SlidingLogState charged = spent(100, 4, 130, 3);
        SlidingLogState state = charged.spend(limit, 2, 150);
        assertThat(state.refund(limit, charged, 2, 160)).isEqualTo(spent(100, 4, 130, 1, 150, 2));
        assertThat(state.refund(limit, charged, 3, 160)).isEqualTo(spent(100, 4, 150, 2));
        assertThat(state.refund(limit, charged, 9, 160)).isEqualTo(spent(100, 4, 150, 2));
        assertThat(state.refund(limit, state, 1, 160)).isEqualTo(spent(100, 4, 130, 3, 150, 1));
        assertThat(state.refund(limit, state, 9, 160)).isEqualTo(charged);
        assertThat(spent(100, 4).refund(limit, spent(100, 4), 4, 160)).isEqualTo(SlidingLogState.EMPTY);
        assertThat(state).isEqualTo(spent(100, 4, 130, 3, 150, 2));
    }

    @Test
    void refundWithoutACountingEntryChangesNothing() {
        SlidingLogState state = spent(100, 4, 130, 3, 150, 2);
        for (long instant : new long[] {99, 101, 140, 151}) {
            assertThat(state.refund(limit, spent(instant, 4), 4, 160)).isSameAs(state);
        }
        assertThat(state.refund(limit, spent(100, 4), 4, 100 + WINDOW)).isSameAs(state);
        assertThat(state.refund(limit, spent(100, 4), 4, 99 + WINDOW)).isEqualTo(spent(130, 3, 150, 2));
        assertThat(state.refund(limit, SlidingLogState.EMPTY, 4, 160)).isSameAs(state);
        assertThat(state.refund(limit, new FixedWindowState(150, 2), 2, 160)).isSameAs(state);
        SlidingLogState rest = state.asOf(limit, 100 + WINDOW);
        assertThat(rest.refund(limit, spent(100, 4), 4, 99 + WINDOW)).isSameAs(rest);
        assertThat(SlidingLogState.EMPTY.refund(limit, spent(100, 4), 4, 160)).isEqualTo(SlidingLogState.EMPTY);
    }

    @Test
    void refundByCostReducesTheNewestEntries() {
        SlidingLogState state = spent(100, 4, 130, 3, 150, 2);
        assertThat(state.refund(limit, 1)).isEqualTo(spent(100, 4, 130, 3, 150, 1));
        assertThat(state.refund(limit, 2)).isEqualTo(spent(100, 4, 130, 3));
        assertThat(state.refund(limit, 4)).isEqualTo(spent(100, 4, 130, 1));
        assertThat(state.refund(limit, 5)).isEqualTo(spent(100, 4));
        assertThat(state.refund(limit, 8)).isEqualTo(spent(100, 1));
        assertThat(state.refund(limit, 9)).isEqualTo(SlidingLogState.EMPTY);
        assertThat(state.refund(limit, Long.MAX_VALUE)).isEqualTo(SlidingLogState.EMPTY);
        assertThat(state.asOf(limit, 100 + WINDOW).refund(limit, 4)).isEqualTo(spent(130, 1));
    }

    @Test
    void aSpendAfterARefundEqualsASpendWithoutTheRefundedCharge() {
        SlidingLogState state = spent(100, 4, 130, 1, 140, 1);
        SlidingLogState less = state.refund(limit, state, 1, 145);
        assertThat(less.spend(limit, 2, 150).spend(limit, 1, 160)).isEqualTo(spent(100, 4, 130, 1, 150, 2, 160, 1));
        assertThat(less.spend(limit, 3, 151).spend(limit, 1, 161)).isEqualTo(spent(100, 4, 130, 1, 151, 3, 161, 1));
    }

    @Test
    void statesWithEqualEntriesAreEqual() {
        SlidingLogState state = spent(1, 9, 100, 4, 130, 3).asOf(limit, 1 + WINDOW);
        assertThat(state)
                .isEqualTo(spent(100, 4, 130, 3))
                .hasSameHashCodeAs(spent(100, 4, 130, 3))
                .hasToString("SlidingLogState[100: 4, 130: 3]")
                .isNotEqualTo(spent(101, 4, 130, 3))
                .isNotEqualTo(spent(100, 3, 130, 4))
                .isNotEqualTo(spent(100, 4, 131, 3))
                .isNotEqualTo(spent(130, 7))
                .isNotEqualTo(new FixedWindowState(100, 4));
        assertThat(SlidingLogState.EMPTY).hasToString("SlidingLogState[]");
    }

    @Test
    void equalityDoesNotDependOnEntriesThatCountNoMore() {
        SlidingLogState shortened = spent(1, 9, 100, 4, 130, 3).asOf(limit, 1 + WINDOW);
        SlidingLogState more = spent(1, 9, 2, 2, 100, 4, 130, 3).asOf(limit, 2 + WINDOW);
        assertThat(spent(100, 4, 130, 3)).isEqualTo(shortened);
        assertThat(shortened).isEqualTo(more);
        assertThat(more).isEqualTo(shortened);
        assertThat(shortened).isNotEqualTo(spent(100, 3, 110, 1, 130, 3)).isNotEqualTo(spent(100, 5, 130, 2));
    }

    @Test
    void theHashCodeDependsOnTheNewestInstantAndThePermits() {
        assertThat(spent(100, 4)).doesNotHaveSameHashCodeAs(spent(101, 4)).doesNotHaveSameHashCodeAs(spent(100, 5));
    }

    @Test
    void aBusyKeyKeepsMemoryForTheEntriesThatCount() {
        Limit busy = log(10_000);
        SlidingLogState state = SlidingLogState.EMPTY;
        long now = 100;
        for (int spend = 0; spend < 100_000; spend++) {
            now += WINDOW / 10_000;
            state = state.asOf(busy, now).spend(busy, 1, now);
            assertThat(state.older().capacity()).isLessThanOrEqualTo(15_008);
        }
        assertThat(state.spent()).isEqualTo(10_000);
        for (int spend = 0; spend < 20_000; spend++) {
            now += WINDOW / 10;
            state = state.asOf(busy, now).spend(busy, 1, now);
        }
        assertThat(state.spent()).isEqualTo(10);
        assertThat(state.older().capacity()).isBetween(9, 30);
    }

    /** A copy at each spend would write 200,000 × 10,000 entries. */
    @Test
    void spendsAndRefundsOfTheNewestEntryCopyNothing() {
        Limit busy = log(10_000);
        SlidingLogState state = SlidingLogState.EMPTY;
        long copies = 0;
        long now = 100;
        for (int spend = 0; spend < 200_000; spend++) {
            now += spend % 3 == 0 ? 0 : 6_000;
            SlidingLogState before = state.asOf(busy, now);
            state = before.spend(busy, 1, now);
            copies += state.older() == before.older() ? 0 : 1;
            if (spend % 5 == 0) {
                state = state.refund(busy, state, 1, now);
            }
        }
        assertThat(copies).isLessThan(60);
    }

    @Test
    void concurrentSpendsOfOneStateDoNotChangeIt() throws Exception {
        Limit wide = log(10_000);
        ExecutorService pool = Executors.newFixedThreadPool(8);
        try {
            for (int round = 0; round < 300; round++) {
                SlidingLogState shared = spent(1, 1, 2, 1, 3, 1, 4, 1).asOf(wide, 1 + WINDOW);
                CountDownLatch ready = new CountDownLatch(8);
                List<Future<List<SlidingLogState>>> all = new ArrayList<>();
                for (int thread = 0; thread < 8; thread++) {
                    int mine = thread;
                    Callable<List<SlidingLogState>> task = () -> {
                        ready.countDown();
                        ready.await();
                        return nextTwenty(shared, mine);
                    };
                    all.add(pool.submit(task));
                }
                for (Future<List<SlidingLogState>> each : all) {
                    each.get(10, TimeUnit.SECONDS);
                }
                for (int thread = 0; thread < 8; thread++) {
                    assertThat(all.get(thread).get()).isEqualTo(nextTwenty(spent(2, 1, 3, 1, 4, 1), thread));
                }
                assertThat(shared).isEqualTo(spent(2, 1, 3, 1, 4, 1));
            }
        } finally {
            pool.shutdownNow();
        }
    }

    /** Keeps each intermediate state, so that the test sees a later change by another thread. */
    private static List<SlidingLogState> nextTwenty(SlidingLogState start, int seed) {
        Random random = new Random(seed);
        List<SlidingLogState> states = new ArrayList<>(List.of(start));
        for (long now = 10; now < 30; now++) {
            SlidingLogState latest = states.get(states.size() - 1);
            states.add(latest.spend(log(10_000), 1 + random.nextInt(5), now));
        }
        return states;
    }
}
