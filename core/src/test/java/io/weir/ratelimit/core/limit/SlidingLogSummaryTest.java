// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.spi.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares summaries with whole logs. {@code -Dweir.test.seed=<number>} repeats a run of {@code -Pfull}. */
class SlidingLogSummaryTest {
    private static final Duration WINDOW = Duration.ofSeconds(10);
    private static final long START = 59_876_543_210_123L;

    private record Entry(long micros, long cost) {}

    private final boolean full = Boolean.getBoolean("weir.test.full");
    private final long seed =
            Long.getLong("weir.test.seed", full ? ThreadLocalRandom.current().nextLong() : 1);
    private final Random random = new Random(seed);

    @Test
    void aSummaryEqualsTheWholeLog() {
        System.out.printf("summaries of logs: -Dweir.test.seed=%d%n", seed);
        int lowered = 0;
        int rejected = 0;
        for (int round = 0; round < (full ? 200_000 : 20_000); round++) {
            long before = 1 + random.nextLong(random.nextBoolean() ? 8 : 400);
            List<Entry> entries = entries(before);
            Limit limit = limit(random.nextInt(3) == 0 ? random.nextLong(before + 1) : before);
            long spent = entries.stream().mapToLong(Entry::cost).sum();
            long now = entries.isEmpty()
                    ? START
                    : entries.get(entries.size() - 1).micros() + (random.nextBoolean() ? 0 : random.nextLong(1_000));
            long cost = 1 + random.nextLong(limit.permits() + 2);
            long need = spent + cost - limit.permits();
            lowered += spent > limit.permits() ? 1 : 0;
            rejected += need > 0 && cost <= limit.permits() ? 1 : 0;
            check(limit, entries, now, cost, need);
        }
        assertThat(lowered).isGreaterThan(1_000);
        assertThat(rejected).isGreaterThan(1_000);
    }

    private void check(Limit limit, List<Entry> entries, long now, long cost, long need) {
        SlidingLogState whole = SlidingLogState.EMPTY;
        for (Entry entry : entries) {
            whole = whole.spend(limit, entry.cost(), entry.micros());
        }
        long spent = whole.spent();
        long grows =
                instantOf(entries, spent > limit.permits() ? spent + 1 - limit.permits() : Math.min(spent, 1), now);
        long needFrom = instantOf(entries, need, now);
        SlidingLogState summary = SlidingLogState.summary(limit, spent, grows, whole.newestMicros(), need, needFrom);
        String story = "seed " + seed + ", " + limit + " at " + now + ", cost " + cost + ": " + whole;
        assertThat(summary.older().capacity()).as(story).isLessThanOrEqualTo(2);
        assertSame(story, limit, summary, whole, cost, now);
        assertThat(summary.asOf(limit, now)).as(story).isSameAs(summary);
        long left = cost;
        while (left > 1 && whole.remaining(limit, now) > 0) {
            long part = 1 + random.nextLong(Math.min(left - 1, whole.remaining(limit, now)));
            whole = whole.spend(limit, part, now);
            summary = summary.spend(limit, part, now);
            left -= part;
            // The rest of the cost needs as many permits to end as the whole cost.
            assertSame(story + ", then " + part, limit, summary, whole, left, now);
        }
    }

    private static void assertSame(
            String story, Limit limit, SlidingLogState summary, SlidingLogState whole, long cost, long now) {
        long remaining = whole.remaining(limit, now);
        assertThat(summary.spent()).as(story).isEqualTo(whole.spent());
        assertThat(summary.newestMicros()).as(story).isEqualTo(whole.newestMicros());
        assertThat(summary.remaining(limit, now)).as(story).isEqualTo(remaining);
        assertThat(summary.hasRoom(limit, cost, now)).as(story).isEqualTo(whole.hasRoom(limit, cost, now));
        assertThat(summary.retryAfterMicros(limit, cost, now))
                .as(story)
                .isEqualTo(whole.retryAfterMicros(limit, cost, now));
        assertThat(summary.retryAfterMicros(limit, remaining + 1, now))
                .as(story)
                .isEqualTo(whole.retryAfterMicros(limit, remaining + 1, now));
        assertThat(summary.resetAfterMicros(limit, now)).as(story).isEqualTo(whole.resetAfterMicros(limit, now));
    }

    /** Returns the instant of the entry that contains the nth oldest permit; now if the log has fewer permits. */
    private static long instantOf(List<Entry> entries, long nth, long now) {
        if (nth <= 0) {
            return 0;
        }
        long total = 0;
        for (Entry entry : entries) {
            total += entry.cost();
            if (total >= nth) {
                return entry.micros();
            }
        }
        return now;
    }

    /** Returns entries within half a window, with at most a number of permits. */
    private List<Entry> entries(long permits) {
        List<Entry> entries = new ArrayList<>();
        long left = random.nextLong(permits + 1);
        long micros = START;
        while (left > 0) {
            long cost = random.nextInt(4) == 0 ? 1 + random.nextLong(left) : 1;
            entries.add(new Entry(micros, cost));
            left -= cost;
            micros += 1 + random.nextLong(random.nextBoolean() ? 2 : 10_000);
        }
        return entries;
    }

    private static Limit limit(long permits) {
        return Limit.of(Algorithm.SLIDING_LOG, permits, WINDOW);
    }

    @Test
    void aSummaryOfNoPermitsIsUntouched() {
        assertThat(SlidingLogState.summary(limit(5), 0, 0, 0, 0, 0)).isEqualTo(LimitState.untouched(limit(5), START));
        assertThat(SlidingLogState.summary(limit(5), 0, 0, 0, 1, START).isAfter(0))
                .isFalse();
    }

    @Test
    void aSummaryCountsAsManyPermitsAsALogCan() {
        Limit most = limit(Limit.MAX_LOG_PERMITS);
        SlidingLogState summary = SlidingLogState.summary(most, Limit.MAX_LOG_PERMITS, START, START + 5, 0, 0);
        assertThat(summary.spent()).isEqualTo(Limit.MAX_LOG_PERMITS);
        assertThat(summary.remaining(most, START + 5)).isZero();
    }

    @Test
    void theInstantOfANeedHasNoEffectWithoutANeed() {
        Limit five = limit(5);
        SlidingLogState summary = SlidingLogState.summary(five, 5, START, START + 20, 0, START + 10);
        assertThat(summary).isEqualTo(SlidingLogState.summary(five, 5, START, START + 20, 0, 0));
        assertThat(summary.retryAfterMicros(five, 1, START + 20)).isEqualTo(WINDOW.toNanos() / 1_000 - 20);
        assertThat(summary.retryAfterMicros(five, 2, START + 20)).isEqualTo(WINDOW.toNanos() / 1_000);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 10_001, 1L << 32, Long.MAX_VALUE})
    void rejectsASummaryOfMorePermitsThanALogCounts(long spent) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SlidingLogState.summary(limit(5), spent, 1, 2, 0, 0))
                .withMessage("a log counts 0 to 10000 permits, not " + spent);
    }
}
