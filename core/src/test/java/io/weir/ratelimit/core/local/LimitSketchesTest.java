// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static io.weir.ratelimit.core.local.Keys.charge;
import static io.weir.ratelimit.core.local.Keys.decide;
import static io.weir.ratelimit.core.local.Keys.exhaust;
import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.core.limit.SipHash;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.ManualTime;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class LimitSketchesTest {
    private static final long SEED = Long.getLong("weir.test.seed", 1);
    private static final int SCENARIOS = Boolean.getBoolean("weir.test.full") ? 100 : 10;
    private static final Duration HOUR = Duration.ofHours(1);

    /** The number of columns for the default of {@code ratelimit.local.max-keys}. */
    private static final int COLUMNS = 16_384;

    private final ManualTime time = new ManualTime();
    private final LimitSketches sketches = new LimitSketches(100_000, new SipHash(SEED, ~SEED));

    private static Limit limit(Algorithm algorithm, long permits, Duration window) {
        return algorithm == Algorithm.LEAKY_BUCKET
                ? Limit.of(algorithm, permits, window, permits)
                : Limit.of(algorithm, permits, window);
    }

    private boolean spend(String storedKey, Limit limit, long cost) {
        StateKey key = key(storedKey, limit);
        if (!read(storedKey, limit).hasRoom(limit, cost, time.micros())) {
            return false;
        }
        sketches.lock();
        try {
            assertThat(sketches.create(key, limit, time.micros())).isTrue();
            sketches.spend(key, limit, cost, time.micros());
        } finally {
            sketches.unlock();
        }
        return true;
    }

    private LimitState read(String storedKey, Limit limit) {
        return sketches.read(key(storedKey, limit), limit, time.micros());
    }

    private static StateKey key(String storedKey, Limit limit) {
        return StateKey.of(charge(new PolicyLimits("api", List.of(limit)), storedKey), 0);
    }

    /**
     * Compares with exact counts of each key: a log of its allowed calls for windows, and its bucket for buckets. The keys are so many that
     * they share cells. The limits of a policy differ between its keys.
     */
    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void neverCountsLessThanAKeyHasSpent(Algorithm algorithm) {
        System.out.printf("sketch of %s: -Dweir.test.seed=%d%n", algorithm, SEED);
        for (int scenario = 0; scenario < SCENARIOS; scenario++) {
            run(algorithm, false, scenario);
        }
    }

    /** The same while keys move from the sketch to the table and back. A fixed or sliding window in the table has other bounds. */
    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"SLIDING_LOG", "TOKEN_BUCKET", "LEAKY_BUCKET"})
    void neverCountsLessWhileKeysFindPlaces(Algorithm algorithm) {
        System.out.printf("sketch and table of %s: -Dweir.test.seed=%d%n", algorithm, SEED);
        for (int scenario = 0; scenario < SCENARIOS; scenario++) {
            run(algorithm, true, scenario);
        }
    }

    private void run(Algorithm algorithm, boolean withPlaces, int scenario) {
        String title = "-Dweir.test.seed=" + SEED + ", scenario " + scenario;
        Random random = new Random(SEED * 31 + scenario);
        LocalBackend backend = new LocalBackend(withPlaces ? 1 + random.nextInt(300) : 1, time);
        if (!withPlaces) {
            exhaust(backend, Keys.policy("year", 5, Duration.ofDays(366)), "old");
        }
        Duration window = Duration.ofMillis(1 + random.nextInt(10_000));
        long permits = 1 + random.nextInt(random.nextBoolean() ? 10 : 10_000);
        int keys = 1 + random.nextInt(4_000);
        Map<Integer, LimitState> exact = new HashMap<>();
        int allowed = 0;
        for (int call = 0; call < 5_000; call++) {
            int key = (int) (keys * Math.pow(random.nextDouble(), 3));
            Limit limit = limit(algorithm, permits + key % 3, window);
            long cost = 1 + random.nextLong(Math.max(1, limit.permits() / (1 + random.nextInt(5))));
            long now = time.micros();
            if (decide(backend, new Charge(new PolicyLimits("api", List.of(limit)), "k." + key, cost))
                    .allowed()) {
                Limit model = isBucket(algorithm) ? limit : limit(Algorithm.SLIDING_LOG, limit.permits(), window);
                LimitState spent = exact.getOrDefault(key, LimitState.untouched(model, now))
                        .asOf(model, now);
                assertThat(spent.hasRoom(model, cost, now))
                        .as("%s, call %d", title, call)
                        .isTrue();
                exact.put(key, spent.spend(model, cost, now));
                allowed++;
            }
            if (random.nextInt(4) == 0) {
                time.advanceMicros(random.nextLong(window.toMillis() * (random.nextInt(100) == 0 ? 2_000 : 20)));
            }
        }
        assertThat(allowed).as(title).isPositive();
    }

    private static boolean isBucket(Algorithm algorithm) {
        return algorithm == Algorithm.TOKEN_BUCKET || algorithm == Algorithm.LEAKY_BUCKET;
    }

    /** Keys that share no cell are never rejected wrongly by a bucket. */
    @Test
    void aSingleBucketIsExact() {
        Random random = new Random(SEED);
        for (int scenario = 0; scenario < SCENARIOS; scenario++) {
            Limit limit = Limit.of(Algorithm.TOKEN_BUCKET, 1 + random.nextInt(1_000), HOUR, 1 + random.nextInt(1_000));
            String key = "k." + scenario;
            LimitState exact = LimitState.untouched(limit, time.micros());
            for (int call = 0; call < 1_000; call++) {
                long cost = 1 + random.nextLong(limit.capacity());
                exact = exact.asOf(limit, time.micros());
                boolean allowed = spend(key, limit, cost);
                assertThat(allowed)
                        .as("-Dweir.test.seed=%d, scenario %d, call %d", SEED, scenario, call)
                        .isEqualTo(exact.hasRoom(limit, cost, time.micros()));
                exact = allowed ? exact.spend(limit, cost, time.micros()) : exact;
                time.advanceMicros(random.nextLong(10 * 3_600_000_000L / limit.permits()));
            }
            time.advanceMicros(3_600_000_000L * 2_000);
        }
    }

    /**
     * The rate of wrong rejections of untouched keys, in percent, while other keys have exhausted their limit within five quarters of a
     * window. It is at most (1 − e^(−keys ÷ columns))^4 and a tenth more, because the cells are random.
     */
    @ParameterizedTest
    @CsvSource({"1000, 0.01", "2000, 0.03", "5000, 0.6", "10000, 5", "20000, 25"})
    void fewNewKeysAreRejectedWronglyBesideExhaustedKeys(int exhausted, double percent) {
        for (Algorithm algorithm : List.of(Algorithm.SLIDING_WINDOW, Algorithm.TOKEN_BUCKET)) {
            double rate = wrongRejections(algorithm, exhausted, key -> 5);
            double formula = 100 * Math.pow(1 - Math.exp(-(double) exhausted / COLUMNS), LimitSketch.ROWS);
            System.out.printf(
                    "%s, %d exhausted keys: %.4f %% wrong rejections, formula %.4f %%, -Dweir.test.seed=%d%n",
                    algorithm, exhausted, rate, formula, SEED);
            assertThat(rate).isLessThanOrEqualTo(percent).isLessThanOrEqualTo(formula * 1.1 + 0.005);
        }
    }

    /** The rate of wrong rejections of untouched keys under 5 permits, in percent, while other keys have made one call each. */
    @ParameterizedTest
    @CsvSource({"50000, 0", "100000, 0", "150000, 10"})
    void fewNewKeysAreRejectedWronglyBesideKeysWithOneCall(int keys, double percent) {
        double rate = wrongRejections(Algorithm.SLIDING_WINDOW, keys, key -> 1);
        System.out.printf("%d keys with one call: %.4f %% wrong rejections, -Dweir.test.seed=%d%n", keys, rate, SEED);
        assertThat(rate).isLessThanOrEqualTo(percent);
    }

    private double wrongRejections(Algorithm algorithm, int others, IntUnaryOperator calls) {
        Limit limit = limit(algorithm, 5, HOUR);
        for (int key = 0; key < others; key++) {
            for (int call = 0; call < calls.applyAsInt(key); call++) {
                spend("i.198.51.100." + key, limit, 1);
            }
        }
        int probes = 100_000;
        int rejected = 0;
        for (int probe = 0; probe < probes; probe++) {
            rejected += read("i.203.0.113." + probe, limit).hasRoom(limit, 1, time.micros()) ? 0 : 1;
        }
        return 100.0 * rejected / probes;
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aSketchIsRemovedWhenItCountsNothing(Algorithm algorithm) {
        Limit limit = limit(algorithm, 5, HOUR);
        assertThat(sketches.isEmpty()).isTrue();
        spend("k", limit, 5);
        assertThat(sketches.isEmpty()).isFalse();
        time.advanceMicros(3_600_000_000L - 1);
        sketches.removeIdle(time.micros());
        assertThat(sketches.isEmpty()).isFalse();
        time.advanceMicros(900_000_001);
        sketches.removeIdle(time.micros());
        assertThat(sketches.isEmpty()).isTrue();
    }

    @Test
    void theNumberOfSketchesIsBounded() {
        sketches.lock();
        try {
            for (int i = 0; i < LimitSketches.MAX_SKETCHES; i++) {
                Limit limit = limit(Algorithm.FIXED_WINDOW, 5, HOUR.plusSeconds(i));
                assertThat(sketches.create(key("k", limit), limit, 0)).isTrue();
                sketches.spend(key("k", limit), limit, 1, 0);
                assertThat(sketches.create(key("k", limit), limit, 0)).isTrue();
            }
            Limit further = limit(Algorithm.TOKEN_BUCKET, 5, HOUR);
            assertThat(sketches.create(key("k", further), further, 0)).isFalse();
            assertThat(sketches.create(key("k", further), further, 4_500_000_000L))
                    .isTrue();
        } finally {
            sketches.unlock();
        }
    }

    @ParameterizedTest
    @CsvSource({"1, 10", "8192, 10", "8200, 11", "100000, 14", "1000000, 17", "100000000, 17"})
    void theSizeFollowsTheNumberOfKeys(int maxKeys, int columnBits) {
        assertThat(LimitSketches.columnBits(maxKeys)).isEqualTo(columnBits);
    }

    @ParameterizedTest
    @EnumSource(Algorithm.class)
    void aClockThatStepsBackNeitherForgetsNorLocksOut(Algorithm algorithm) {
        Limit limit = limit(algorithm, 5, HOUR);
        time.advanceMicros(100 * 3_600_000_000L);
        spend("k", limit, 5);
        time.advanceMicros(-90 * 3_600_000_000L);
        assertThat(spend("k", limit, 1)).isFalse();
        time.advanceMicros(-2_000_000);
        assertThat(spend("k", limit, 1)).isFalse();
        time.advanceMicros(4_503_000_000L);
        assertThat(spend("k", limit, 5)).isTrue();
    }

    /** The counts of a limit above 2^30 permits have a unit, to which each cost is rounded up. */
    @Test
    void aGreatLimitIsCountedWithAnErrorBelowOneMillionth() {
        Limit limit = limit(Algorithm.FIXED_WINDOW, Limit.MAX_PERMITS / 16, Duration.ofSeconds(1));
        long spent = 0;
        for (int i = 0; i < 100; i++) {
            assertThat(spend("k", limit, limit.permits() / 101)).isTrue();
            spent += limit.permits() / 101;
        }
        assertThat(read("k", limit).remaining(limit, time.micros()))
                .isBetween(limit.permits() - spent - limit.permits() / 1_000_000, limit.permits() - spent);
    }
}
