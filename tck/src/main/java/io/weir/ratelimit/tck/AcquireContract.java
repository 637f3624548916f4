// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls are allowed up to the limit of their key. */
interface AcquireContract extends ContractFixture {
    Duration MINUTE = Duration.ofMinutes(1);

    @EachAlgorithm
    default void allowsExactlyTheLimit(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 5, MINUTE);
        TestKey key = key();
        for (int left = 4; left >= 0; left--) {
            Quota quota = key.spend(limit, 1).quotas().get(0);
            assertThat(quota.remaining()).isEqualTo(left);
            assertThat(quota.rejected()).isFalse();
            assertThat(QuotaMicros.retryAfter(quota)).isZero();
        }
        assertThat(key.rejection(limit, 1).remaining()).isZero();
    }

    @EachAlgorithm
    default void costIsTheNumberOfSpentPermits(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, MINUTE);
        TestKey key = key();
        key.spend(limit, 4);
        key.spend(limit, 4);
        assertThat(key.rejection(limit, 3).remaining()).isEqualTo(2);
        key.spend(limit, 2);
        key.rejection(limit, 1);
    }

    @EachAlgorithm
    default void wholeLimitCanBeSpentAtOnce(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, MINUTE);
        TestKey key = key();
        key.spend(limit, 10);
        key.rejection(limit, 1);
    }

    @EachAlgorithm
    default void rejectsACostAboveTheCapacityForever(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, MINUTE);
        TestKey key = key();
        Quota quota = key.rejection(limit, 11);
        assertThat(QuotaMicros.retryAfter(quota)).isEqualTo(QuotaMicros.NEVER);
        assertThat(quota.retryAfter()).isEmpty();
        assertThat(quota.remaining()).isEqualTo(10);
        assertThat(QuotaMicros.resetAfter(quota)).isZero();
        key.rejection(limit, Long.MAX_VALUE);
        key.spend(limit, 10);
    }

    @EachAlgorithm
    default void limitOfZeroPermitsBlocks(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 0, MINUTE);
        TestKey key = key();
        Quota quota = key.rejection(limit, 1);
        assertThat(QuotaMicros.retryAfter(quota)).isEqualTo(QuotaMicros.NEVER);
        assertThat(quota.remaining()).isZero();
        assertThat(quota.permits()).isZero();
        assertThat(QuotaMicros.resetAfter(quota)).isZero();
        assertThat(QuotaMicros.nextPermitAfter(quota)).isZero();
        time().advanceMicros(limit.windowMicros());
        key.rejection(limit, 1);
    }

    @ParameterizedTest
    @CsvSource({
        "TOKEN_BUCKET, 1", "TOKEN_BUCKET, 3", "TOKEN_BUCKET, 25",
        "LEAKY_BUCKET, 1", "LEAKY_BUCKET, 3", "LEAKY_BUCKET, 25"
    })
    default void bucketAllowsItsBurstAndThenItsRate(Algorithm algorithm, long burst) {
        Limit limit = Limit.of(algorithm, 10, Duration.ofSeconds(1), burst);
        TestKey key = key();
        key.spend(limit, burst);
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, 1))).isEqualTo(100_000);
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, burst + 1))).isEqualTo(QuotaMicros.NEVER);
        time().advanceMicros(100_000);
        key.spend(limit, 1);
        key.rejection(limit, 1);
    }

    @Test
    default void leakyBucketAllowsASteadyRate() {
        Limit limit = Limit.of(Algorithm.LEAKY_BUCKET, 10, Duration.ofSeconds(1));
        TestKey key = key();
        for (int call = 0; call < 25; call++) {
            assertThat(key.spend(limit, 1).quotas().get(0).remaining()).isZero();
            time().advanceMicros(99_999);
            assertThat(QuotaMicros.retryAfter(key.rejection(limit, 1))).isEqualTo(1);
            assertThat(QuotaMicros.retryAfter(key.rejection(limit, 2))).isEqualTo(QuotaMicros.NEVER);
            time().advanceMicros(1);
        }
        time().advanceMicros(10 * limit.windowMicros());
        key.spend(limit, 1);
        key.rejection(limit, 1);
    }

    @Test
    default void fixedWindowStartsAtTheFirstCall() {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 10, MINUTE);
        TestKey key = key();
        key.spend(limit, 1);
        time().advanceMicros(59_999_999);
        key.spend(limit, 9);
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, 1))).isEqualTo(1);
        time().advanceMicros(1);
        key.spend(limit, 10);
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, 1))).isEqualTo(60_000_000);
    }

    @ParameterizedTest(name = "{0}, {1} at the window''s start")
    @CsvSource({"SLIDING_WINDOW, 1", "SLIDING_WINDOW, 0", "SLIDING_LOG, 0"})
    default void permitsSpentAtTheEndOfAWindowCountInTheNext(Algorithm algorithm, int before) {
        Limit limit = Limit.of(algorithm, 100, MINUTE);
        TestKey key = key();
        for (int call = 0; call < before; call++) {
            key.spend(limit, 1);
        }
        time().advanceMicros(limit.windowMicros() - 1_000);
        for (int call = before; call < 100; call++) {
            key.spend(limit, 1);
            time().advanceMicros(10);
        }
        time().advanceMicros(before * 10L);
        for (int step = 0; step < 20; step++) {
            assertThat(key.rejection(limit, 1).remaining()).isZero();
            time().advanceMicros(step % 2 == 0 ? 1 : 99);
        }
    }

    @Test
    default void logReturnsEachCallExactlyAWindowLater() {
        Limit limit = Limit.of(Algorithm.SLIDING_LOG, 3, MINUTE);
        TestKey key = key();
        for (int call = 0; call < 3; call++) {
            key.spend(limit, 1);
            time().advanceMicros(10_000_000);
        }
        time().advanceMicros(29_999_999);
        for (int call = 0; call < 3; call++) {
            assertThat(QuotaMicros.retryAfter(key.rejection(limit, 1))).isEqualTo(1);
            time().advanceMicros(1);
            key.spend(limit, 1);
            assertThat(QuotaMicros.retryAfter(key.rejection(limit, 1))).isEqualTo(call < 2 ? 10_000_000 : 40_000_000);
            time().advanceMicros(9_999_999);
        }
    }

    @EachAlgorithm
    default void keysDoNotShareALimit(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 3, MINUTE);
        TestKey one = key();
        TestKey other = key();
        one.spend(limit, 3);
        assertThat(other.remaining(limit)).isEqualTo(3);
        other.spend(limit, 1);
        one.rejection(limit, 1);
    }

    @EachAlgorithm
    default void policiesDoNotShareALimit(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 3, MINUTE);
        TestKey key = key();
        key.spend(limit, 3);
        Charge other = new Charge(new PolicyLimits("api2", List.of(limit)), key.storedKey(), 3);
        assertThat(backend().acquire(List.of(other)).allowed()).isTrue();
        assertThat(backend().acquire(List.of(other)).allowed()).isFalse();
    }

    @Test
    default void algorithmsDoNotShareState() {
        List<Limit> limits = Stream.of(Algorithm.values())
                .map(algorithm -> limitOf(algorithm, 3, MINUTE))
                .toList();
        TestKey key = key();
        limits.forEach(limit -> key.spend(limit, 3));
        limits.forEach(limit -> key.rejection(limit, 1));
    }

    @EachAlgorithm
    default void resetKeyEqualsAnUntouchedKey(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 3, MINUTE);
        TestKey key = key();
        TestKey other = key();
        key.spend(limit, 3);
        other.spend(limit, 3);
        time().advanceMicros(1_000_003);
        key.reset(limit);
        assertThat(key.peek(limit)).isEqualTo(key().peek(limit));
        assertThat(other.remaining(limit)).isZero();
        key.spend(limit, 3);
        key.rejection(limit, 1);
    }

    @EachAlgorithm
    default void acquireAsyncDecidesLikeAcquire(Algorithm algorithm) throws Exception {
        Limit limit = limitOf(algorithm, 7, MINUTE);
        TestKey key = key();
        TestKey twin = key();
        for (long cost : new long[] {3, 5, 2, 2, 8, 1}) {
            Decision expected = twin.acquire(limit, cost);
            Decision decision = backend()
                    .acquireAsync(List.of(key.charge(cost, limit)))
                    .toCompletableFuture()
                    .get(10, TimeUnit.SECONDS);
            assertThat(decision.allowed()).isEqualTo(expected.allowed());
            assertThat(decision.quotas()).isEqualTo(expected.quotas());
            if (cost == 2 && decision instanceof Decision.Allowed allowed) {
                backend().refund(allowed.receipt());
                twin.refund(limit, 2);
            }
            time().advanceMicros(1_234_567);
        }
    }
}
