// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class LimitTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private static Limit sliding(long permits, Duration window) {
        return Limit.of(Algorithm.SLIDING_WINDOW, permits, window);
    }

    private static Limit bucket(long permits, Duration window, long burst) {
        return Limit.of(Algorithm.TOKEN_BUCKET, permits, window, burst);
    }

    @ParameterizedTest(name = "{0}/{1}: 10^{2} us")
    @CsvSource({
        "7, PT1S, 0",
        "0, P366D, 0",
        "1000000, PT24H, 1",
        "284, P366D, 0",
        "285, P366D, 1",
        "9007199254, PT1S, 0",
        "9007199255, PT1S, 1",
        "1000000000, P30D, 6",
        "281474976710654, PT1S, 5",
        "281474976710654, PT0.001S, 2"
    })
    void choosesTheFinestExactTimeUnit(long permits, Duration window, int exponent) {
        Limit limit = sliding(permits, window);
        assertThat(limit.unitExponent()).isEqualTo(exponent);
        assertThat(limit.unitMicros()).isEqualTo((long) Math.pow(10, exponent));
        assertThat(limit.windowUnits() * limit.unitMicros()).isEqualTo(limit.windowMicros());
        assertThat(limit.windowMicros()).isEqualTo(window.toMillis() * 1_000);
    }

    @Test
    void timeUnitDependsOnTheBurst() {
        assertThat(bucket(10, SECOND, 9_007_199_255L).unitExponent()).isEqualTo(1);
        assertThat(bucket(9_007_199_255L, SECOND, 1).unitExponent()).isEqualTo(1);
    }

    @Test
    void rejectsABurstWithARefillOfCenturies() {
        assertThat(bucket(1, SECOND, 9_007_199_254L).capacity()).isEqualTo(9_007_199_254L);
        assertThatThrownBy(() -> bucket(1, SECOND, 9_007_199_255L)).hasMessageContaining("285 years");
    }

    @Test
    void capacityIsTheBurstOrThePermits() {
        assertThat(sliding(10, SECOND).capacity()).isEqualTo(10);
        assertThat(Limit.of(Algorithm.TOKEN_BUCKET, 10, SECOND).capacity()).isEqualTo(10);
        assertThat(Limit.of(Algorithm.LEAKY_BUCKET, 10, SECOND).capacity()).isEqualTo(1);
        assertThat(bucket(10, SECOND, 25).capacity()).isEqualTo(25);
        assertThat(bucket(10, SECOND, 3).capacity()).isEqualTo(3);
    }

    @Test
    void capacityOfABlockingLimitIsZero() {
        assertThat(bucket(0, SECOND, 25).capacity()).isZero();
        assertThat(Limit.of(Algorithm.LEAKY_BUCKET, 0, SECOND).capacity()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Limit.MAX_PERMITS + 1, (1L << 53) - 1, Long.MAX_VALUE, Long.MIN_VALUE})
    void rejectsPermitsOutOfRange(long permits) {
        String range = "must be from 0 to " + Limit.MAX_PERMITS;
        assertThatIllegalArgumentException()
                .isThrownBy(() -> sliding(permits, SECOND))
                .withMessage("permits " + range);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> bucket(1, SECOND, permits))
                .withMessage("burst " + range);
    }

    @Test
    void rejectsABurstOfZero() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> bucket(1, SECOND, 0))
                .withMessage("burst must be at least 1");
    }

    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"FIXED_WINDOW", "SLIDING_WINDOW", "SLIDING_LOG"})
    void rejectsABurstOfOtherAlgorithms(Algorithm algorithm) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Limit.of(algorithm, 1, SECOND, 1))
                .withMessage("burst requires token-bucket or leaky-bucket");
    }

    @ParameterizedTest
    @ValueSource(longs = {10_001, Limit.MAX_PERMITS, Long.MAX_VALUE})
    void rejectsALogAboveItsMaximumBeforeOtherProblems(long permits) {
        String problem = "sliding-log stores each allowed call and supports at most 10000 permits per window, not "
                + permits + ": choose sliding-window for more";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Limit.of(Algorithm.SLIDING_LOG, permits, Duration.ZERO))
                .withMessage(problem);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Limit.of(Algorithm.SLIDING_LOG, permits, SECOND, 5))
                .withMessage(problem);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0.001S", "PT1S", "P366D"})
    void logSupportsTenThousandPermitsInAnyWindow(Duration window) {
        assertThat(Limit.of(Algorithm.SLIDING_LOG, Limit.MAX_LOG_PERMITS, window)
                        .capacity())
                .isEqualTo(10_000);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT0.000999999S", "PT-1S", "P366DT0.001S", "P100000000D"})
    void rejectsWindowsOutOfRange(Duration window) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> sliding(1, window))
                .withMessage("the window must be from 1ms to 366d");
    }

    @Test
    void rejectsAWindowWithMicroseconds() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> sliding(1, Duration.ofNanos(1_500_000)))
                .withMessage("the window must be whole milliseconds");
    }

    @ParameterizedTest
    @CsvSource({"3475000000, P30D", "281474976710654, PT1M", "9007199254741, PT1.001S"})
    void rejectsPermitsWithoutAnExactTimeUnit(long permits, Duration window) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> sliding(permits, window))
                .withMessageStartingWith(
                        permits + " permits are too many for a window of " + window.toMillis() + " ms: ");
    }

    @ParameterizedTest
    @CsvSource({
        "PT0.001S, 1ms",
        "PT1.5S, 1500ms",
        "PT1S, 1s",
        "PT90S, 90s",
        "PT1M, 1m",
        "PT90M, 90m",
        "PT1H, 1h",
        "PT24H, 1d",
        "PT36H, 36h",
        "P7D, 7d",
        "P366D, 366d"
    })
    void windowTextUsesTheLargestUnit(Duration window, String text) {
        assertThat(sliding(1, window).windowText()).isEqualTo(text);
    }

    @Test
    void textIsTheSyntaxOfConfiguration() {
        assertThat(sliding(100, Duration.ofMinutes(1))).hasToString("100/1m sliding-window");
        assertThat(bucket(10, SECOND, 20)).hasToString("10/1s token-bucket burst 20");
        assertThat(bucket(10, SECOND, 10)).hasToString("10/1s token-bucket");
        assertThat(Limit.of(Algorithm.LEAKY_BUCKET, 10, SECOND)).hasToString("10/1s leaky-bucket");
        assertThat(Limit.of(Algorithm.LEAKY_BUCKET, 10, SECOND, 10)).hasToString("10/1s leaky-bucket burst 10");
        assertThat(Limit.of(Algorithm.LEAKY_BUCKET, 0, SECOND)).hasToString("0/1s leaky-bucket");
    }

    @ParameterizedTest(name = "{0}/{1} burst {2} max-wait {3}: 10^{4} us")
    @CsvSource({
        "10, PT1S, 10, PT2S, 0",
        "1000000, PT1S, 1, PT1H, 0",
        "3000000, PT1S, 1, PT1H, 1",
        "9007199254, PT1S, 1, PT0S, 0",
        "9007199254, PT1S, 1, PT1S, 1",
        "1000000000, P30D, 1, PT1H, 6"
    })
    void timeUnitDependsOnTheMaxWait(long permits, Duration window, long burst, Duration wait, int exponent) {
        Limit limit = bucket(permits, window, burst).withMaxWait(wait);
        assertThat(limit.unitExponent()).isEqualTo(exponent);
        assertThat(limit.maxWait()).isEqualTo(wait);
        long waitMicros = wait.toMillis() * 1_000;
        assertThat(waitMicros % limit.unitMicros()).isZero();
        assertThat(burst * limit.windowUnits() + permits * (waitMicros / limit.unitMicros()))
                .isLessThanOrEqualTo(1L << 53);
    }

    @Test
    void rejectsAMaxWaitWithoutAnExactTimeUnit() {
        Limit most = bucket(281_474_976_710_654L, SECOND, 1);
        assertThat(most.withMaxWait(Duration.ofSeconds(30)).unitExponent()).isEqualTo(6);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> most.withMaxWait(Duration.ofSeconds(33)))
                .withMessageStartingWith(
                        "281474976710654 permits are too many for a window of 1000 ms and a max-wait of"
                                + " 33000 ms: ");
        assertThatIllegalArgumentException()
                .as("no unit that is coarse enough divides it")
                .isThrownBy(() -> bucket(1_000_000_000, Duration.ofDays(30), 1).withMaxWait(Duration.ofMillis(1_001)));
    }

    @Test
    void rejectsAMaxWaitWithARefillOfCenturies() {
        assertThatThrownBy(() -> bucket(1, SECOND, 9_007_199_254L).withMaxWait(SECOND))
                .hasMessageContaining("285 years");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT-0.001S", "PT1H0.001S", "P1D"})
    void rejectsMaxWaitsOutOfRange(Duration wait) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> sliding(1, SECOND).withMaxWait(wait))
                .withMessage("max-wait must be from 0s to 1h");
    }

    @Test
    void rejectsAMaxWaitWithMicroseconds() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> sliding(1, SECOND).withMaxWait(Duration.ofNanos(1_500_000)))
                .withMessage("max-wait must be whole milliseconds");
    }

    @Test
    void theTimeUnitOfAWindowDoesNotDependOnTheMaxWait() {
        Limit waiting = sliding(9_007_199_254L, SECOND).withMaxWait(Duration.ofSeconds(2));
        assertThat(waiting.unitExponent()).isZero();
    }

    @Test
    void maxWaitIsPartOfTextAndEquality() {
        Limit limit = bucket(10, SECOND, 20).withMaxWait(Duration.ofSeconds(2));
        assertThat(limit).hasToString("10/1s token-bucket burst 20 max-wait 2s");
        assertThat(sliding(10, SECOND).withMaxWait(Duration.ofMillis(1500)))
                .hasToString("10/1s sliding-window max-wait 1500ms");
        assertThat(limit)
                .isEqualTo(bucket(10, SECOND, 20).withMaxWait(Duration.ofSeconds(2)))
                .hasSameHashCodeAs(bucket(10, SECOND, 20).withMaxWait(Duration.ofSeconds(2)))
                .isNotEqualTo(bucket(10, SECOND, 20))
                .isNotEqualTo(bucket(10, SECOND, 20).withMaxWait(SECOND));
        assertThat(limit.withMaxWait(Duration.ZERO)).isEqualTo(bucket(10, SECOND, 20));
    }

    @Test
    void limitsAreEqualByTheirValues() {
        Limit limit = bucket(10, SECOND, 20);
        assertThat(limit)
                .isEqualTo(bucket(10, Duration.parse("PT1.000S"), 20))
                .hasSameHashCodeAs(bucket(10, Duration.parse("PT1.000S"), 20))
                .isNotEqualTo(bucket(11, SECOND, 20))
                .isNotEqualTo(bucket(10, SECOND, 21))
                .isNotEqualTo(bucket(10, Duration.ofSeconds(2), 20))
                .isNotEqualTo(Limit.of(Algorithm.LEAKY_BUCKET, 10, SECOND, 20));
    }
}
