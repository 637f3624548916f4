// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A digest answers as the log that it stands for. {@code -Dweir.test.seed=<number>} repeats a run of {@code -Pfull}. */
class SlidingLogDigestTest {
    private static final Duration WINDOW = Duration.ofSeconds(10);
    private static final long START = 59_876_543_210_123L;

    private record Entry(long micros, long cost) {}

    private final boolean full = Boolean.getBoolean("weir.test.full");
    private final long seed =
            Long.getLong("weir.test.seed", full ? ThreadLocalRandom.current().nextLong() : 1);
    private final Random random = new Random(seed);

    @Test
    void aDigestAnswersAsTheWholeLog() {
        System.out.printf("digests of logs: -Dweir.test.seed=%d%n", seed);
        int lowered = 0;
        int refused = 0;
        for (int round = 0; round < (full ? 200_000 : 20_000); round++) {
            long before = 1 + random.nextLong(random.nextBoolean() ? 8 : 400);
            List<Entry> entries = entries(before);
            Limit limit = limit(random.nextInt(3) == 0 ? random.nextLong(before + 1) : before);
            long live = entries.stream().mapToLong(Entry::cost).sum();
            long now = entries.isEmpty()
                    ? START
                    : entries.get(entries.size() - 1).micros() + (random.nextBoolean() ? 0 : random.nextLong(1_000));
            long cost = 1 + random.nextLong(limit.permits() + 2);
            long need = live + cost - limit.permits();
            lowered += live > limit.permits() ? 1 : 0;
            refused += need > 0 && cost <= limit.permits() ? 1 : 0;
            check(limit, entries, now, cost, need);
        }
        assertThat(lowered).isGreaterThan(1_000);
        assertThat(refused).isGreaterThan(1_000);
    }

    private void check(Limit limit, List<Entry> entries, long now, long cost, long need) {
        SlidingLogState whole = SlidingLogState.EMPTY;
        for (Entry entry : entries) {
            whole = whole.spend(limit, entry.cost(), entry.micros());
        }
        long live = whole.live();
        long grows = goneWith(entries, live > limit.permits() ? live + 1 - limit.permits() : Math.min(live, 1), now);
        long needFrom = goneWith(entries, need, now);
        SlidingLogState digest = SlidingLogState.digest(limit, live, grows, whole.newestMicros(), need, needFrom);
        String story = "seed " + seed + ", " + limit + " at " + now + ", cost " + cost + ": " + whole;
        assertThat(digest.older().capacity()).as(story).isLessThanOrEqualTo(2);
        assertSame(story, limit, digest, whole, cost, now);
        assertThat(digest.at(limit, now)).as(story).isSameAs(digest);
        long left = cost;
        while (left > 1 && whole.remaining(limit, now) > 0) {
            long spent = 1 + random.nextLong(Math.min(left - 1, whole.remaining(limit, now)));
            whole = whole.spend(limit, spent, now);
            digest = digest.spend(limit, spent, now);
            left -= spent;
            // What is left of the cost has to wait for as many permits as the whole.
            assertSame(story + ", then " + spent, limit, digest, whole, left, now);
        }
    }

    private static void assertSame(
            String story, Limit limit, SlidingLogState digest, SlidingLogState whole, long cost, long now) {
        long remaining = whole.remaining(limit, now);
        assertThat(digest.live()).as(story).isEqualTo(whole.live());
        assertThat(digest.newestMicros()).as(story).isEqualTo(whole.newestMicros());
        assertThat(digest.remaining(limit, now)).as(story).isEqualTo(remaining);
        assertThat(digest.fits(limit, cost, now)).as(story).isEqualTo(whole.fits(limit, cost, now));
        assertThat(digest.waitMicros(limit, cost, now)).as(story).isEqualTo(whole.waitMicros(limit, cost, now));
        assertThat(digest.waitMicros(limit, remaining + 1, now))
                .as(story)
                .isEqualTo(whole.waitMicros(limit, remaining + 1, now));
        assertThat(digest.resetMicros(limit, now)).as(story).isEqualTo(whole.resetMicros(limit, now));
    }

    /** The time of the entry with whose end so many of the oldest permits have gone; now if there are not so many. */
    private static long goneWith(List<Entry> entries, long permits, long now) {
        if (permits <= 0) {
            return 0;
        }
        long gone = 0;
        for (Entry entry : entries) {
            gone += entry.cost();
            if (gone >= permits) {
                return entry.micros();
            }
        }
        return now;
    }

    /** Up to a number of permits within half a window. */
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
    void aDigestOfALogInWhichNothingCountsIsUntouched() {
        assertThat(SlidingLogState.digest(limit(5), 0, 0, 0, 0, 0)).isEqualTo(LimitState.untouched(limit(5), START));
        assertThat(SlidingLogState.digest(limit(5), 0, 0, 0, 1, START).isAfter(0))
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 10_001, 1L << 32, Long.MAX_VALUE})
    void moreThanALogEverCountsIsNoDigest(long live) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SlidingLogState.digest(limit(5), live, 1, 2, 0, 0))
                .withMessage("a log counts 0 to 10000 permits, not " + live);
    }
}
