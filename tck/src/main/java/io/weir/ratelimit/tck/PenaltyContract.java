// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PenaltyRule;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Many rejections of a key block it, each time for longer. */
interface PenaltyContract extends ContractFixture {
    Limit PENALIZED = Limit.of(Algorithm.SLIDING_WINDOW, 10, Duration.ofSeconds(10));

    /** 20 rejections in a minute lead to a block of 15 minutes, later ones of 30 and 40 minutes. */
    PenaltyRule RULE = new PenaltyRule(20, Duration.ofMinutes(1), Duration.ofMinutes(15), 2, Duration.ofMinutes(40));

    private Optional<BlocksKeys.Penalty> count(TestKey key, long rejections, PenaltyRule rule) {
        return backend()
                .countRejections(TestKey.policy(PENALIZED), key.storedKey(), rejections, rule)
                .toCompletableFuture()
                .join();
    }

    private void unblock(TestKey key) {
        backend().unblock(TestKey.policy(PENALIZED), key.storedKey());
    }

    private long blockedMicros(TestKey key) {
        return QuotaMicros.blockedFor(key.peek(PENALIZED));
    }

    @Test
    default void theRejectionThatReachesTheNumberBlocksTheKey() {
        TestKey key = key();
        for (int rejection = 1; rejection < 20; rejection++) {
            assertThat(count(key, 1, RULE)).isEmpty();
        }
        key.spend(PENALIZED, 1);
        assertThat(count(key, 1, RULE)).contains(new BlocksKeys.Penalty(Duration.ofMinutes(15), 1));
        assertThat(QuotaMicros.blockedFor(key.rejection(PENALIZED, 1))).isEqualTo(900_000_000);
        assertThat(count(key(), 19, RULE)).isEmpty();
    }

    @Test
    default void rejectionsAreCountedTogether() {
        TestKey key = key();
        assertThat(count(key, 7, RULE)).isEmpty();
        assertThat(count(key, 5_000_000_000L, RULE)).contains(new BlocksKeys.Penalty(Duration.ofMinutes(15), 1));
    }

    @Test
    default void rejectionsOfAnEarlierWindowDoNotCount() {
        TestKey key = key();
        count(key, 19, RULE);
        time().advanceMicros(60_000_000);
        assertThat(count(key, 19, RULE)).isEmpty();
        time().advanceMicros(59_999_999);
        assertThat(count(key, 1, RULE)).isPresent();
    }

    @Test
    default void eachPenaltyIsLongerUntilTheLongest() {
        TestKey key = key();
        List<Duration> lengths = new ArrayList<>();
        for (int penalty = 1; penalty <= 5; penalty++) {
            BlocksKeys.Penalty imposed = count(key, 20, RULE).orElseThrow();
            assertThat(imposed.number()).isEqualTo(penalty);
            lengths.add(imposed.duration());
            time().advanceMicros(blockedMicros(key));
            assertThat(blockedMicros(key)).isZero();
        }
        assertThat(lengths).extracting(Duration::toMinutes).containsExactly(15L, 30L, 40L, 40L, 40L);
    }

    @Test
    default void rejectionsOfABlockedKeyDoNotCount() {
        TestKey key = key();
        count(key, 20, RULE);
        assertThat(count(key, 100, RULE)).isEmpty();
        time().advanceMicros(blockedMicros(key));
        assertThat(count(key, 19, RULE)).isEmpty();
        backend().block(TestKey.policy(PENALIZED), key.storedKey(), Duration.ofSeconds(1));
        assertThat(count(key, 19, RULE)).isEmpty();
        time().advanceMicros(1_000_000);
        assertThat(count(key, 1, RULE)).contains(new BlocksKeys.Penalty(Duration.ofMinutes(30), 2));
    }

    @Test
    default void penaltiesAreForgottenAfterTheLongestBlockWithoutABlock() {
        TestKey key = key();
        TestKey twin = key();
        count(key, 20, RULE);
        count(twin, 20, RULE);
        time().advanceMicros(blockedMicros(key) + RULE.longestMicros() - 1);
        assertThat(count(twin, 20, RULE).orElseThrow().number()).isEqualTo(2);
        time().advanceMicros(1);
        assertThat(count(key, 20, RULE)).contains(new BlocksKeys.Penalty(Duration.ofMinutes(15), 1));
    }

    @Test
    default void unblockAndResetForgetThePenalties() {
        for (boolean resets : new boolean[] {true, false}) {
            TestKey key = key();
            count(key, 20, RULE);
            if (resets) {
                key.reset(PENALIZED);
            } else {
                unblock(key);
            }
            key.spend(PENALIZED, 1);
            assertThat(count(key, 19, RULE)).isEmpty();
            assertThat(count(key, 1, RULE).orElseThrow().number()).isEqualTo(1);
        }
    }

    @Test
    default void aChangedRuleAppliesFromTheNextRejection() {
        TestKey key = key();
        count(key, 15, RULE);
        PenaltyRule stricter = new PenaltyRule(16, RULE.window(), Duration.ofSeconds(1), 1, Duration.ofSeconds(1));
        assertThat(count(key, 1, stricter)).contains(new BlocksKeys.Penalty(Duration.ofSeconds(1), 1));
        time().advanceMicros(1_000_000);
        assertThat(count(key, 16, stricter)).contains(new BlocksKeys.Penalty(Duration.ofSeconds(1), 2));
    }

    @Test
    default void concurrentRejectionsLeadToOnePenalty() throws Exception {
        TestKey key = key();
        int threads = 8;
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            CountDownLatch start = new CountDownLatch(threads);
            List<Future<Integer>> counts = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                counts.add(executor.submit(() -> {
                    start.countDown();
                    start.await();
                    int imposed = 0;
                    for (int rejection = 0; rejection < 50; rejection++) {
                        imposed += count(key, 1, RULE).isPresent() ? 1 : 0;
                    }
                    return imposed;
                }));
            }
            int imposed = 0;
            for (Future<Integer> each : counts) {
                imposed += each.get(30, TimeUnit.SECONDS);
            }
            assertThat(imposed).isEqualTo(1);
        } finally {
            executor.shutdownNow();
        }
    }
}
