// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Quota;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BlocksKeys;
import io.weir.ratelimit.spi.CalendarPeriod;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A blocked key is rejected until the end of the block, whatever its limits. */
interface BlockContract extends ContractFixture {
    Duration BLOCK = Duration.ofSeconds(30);

    private Duration block(TestKey key, Duration duration) {
        return backend().block(policyOf(key), key.storedKey(), duration);
    }

    private void unblock(TestKey key) {
        backend().unblock(policyOf(key), key.storedKey());
    }

    /** Returns other limits than those of the tests: a block is that of a policy. */
    private static PolicyLimits policyOf(TestKey key) {
        return key.charge(1, Limit.of(Algorithm.FIXED_WINDOW, 3, Duration.ofMinutes(7)))
                .policy();
    }

    private Limit limit(Algorithm algorithm) {
        return limitOf(algorithm, 10, Duration.ofSeconds(10));
    }

    @EachAlgorithm
    default void blockedKeyIsRejectedUntilTheEndOfTheBlock(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        key.spend(limit, 4);
        assertThat(block(key, BLOCK)).isEqualTo(BLOCK);
        for (long left : new long[] {30_000_000, 29_999_999, 1}) {
            time().advanceMicros(QuotaMicros.blockedFor(key.peek(limit)) - left);
            Quota rejected = key.rejection(limit, 1);
            assertThat(rejected).isEqualTo(key.peek(limit));
            assertThat(QuotaMicros.blockedFor(rejected)).isEqualTo(left);
            assertThat(rejected.blockedFor()).isEqualTo(Duration.ofNanos(left * 1_000));
            assertThat(QuotaMicros.retryAfter(rejected)).isEqualTo(left);
            assertThat(rejected.remaining()).isZero();
            assertThat(QuotaMicros.nextPermitAfter(rejected)).isEqualTo(left);
            assertThat(QuotaMicros.resetAfter(rejected)).isGreaterThanOrEqualTo(left);
        }
        time().advanceMicros(1);
        assertThat(QuotaMicros.blockedFor(key.peek(limit))).isZero();
        key.spend(limit, 10);
    }

    @EachAlgorithm
    default void newKeyIsBlockedAndRemainsUntouched(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        Quota untouched = key.peek(limit);
        block(key, BLOCK);
        assertThat(QuotaMicros.resetAfter(key.rejection(limit, 1))).isEqualTo(30_000_000);
        unblock(key);
        assertThat(key.peek(limit)).isEqualTo(untouched);
        key.spend(limit, 10);
    }

    @EachAlgorithm
    default void rejectedCallsOfABlockedKeySpendNothing(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        TestKey twin = key();
        key.spend(limit, 6);
        twin.spend(limit, 6);
        block(key, BLOCK);
        IntStream.range(0, 5).forEach(call -> key.rejection(limit, 1));
        time().advanceMicros(1_234_567);
        unblock(key);
        assertThat(key.peek(limit)).isEqualTo(twin.peek(limit));
    }

    @EachAlgorithm
    default void longerWaitOfTheLimitIsReported(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        key.spend(limit, 10);
        Quota full = key.peek(limit, 10);
        block(key, Duration.ofMillis(3));
        Quota rejected = key.rejection(limit, 10);
        assertThat(QuotaMicros.blockedFor(rejected)).isEqualTo(3_000);
        assertThat(QuotaMicros.retryAfter(rejected)).isEqualTo(QuotaMicros.retryAfter(full));
        assertThat(QuotaMicros.resetAfter(rejected)).isEqualTo(QuotaMicros.resetAfter(full));
        assertThat(QuotaMicros.nextPermitAfter(rejected)).isEqualTo(QuotaMicros.nextPermitAfter(full));
        assertThat(QuotaMicros.retryAfter(key.rejection(limit, 11))).isEqualTo(QuotaMicros.NEVER);
    }

    @Test
    default void slotsOfABlockedKeyAreReleasedAndRenewed() {
        Limit limit = Limit.concurrency(3, Duration.ofMinutes(1));
        assumeTrue(backend().supports(limit), "the backend has no concurrency limits");
        TestKey key = key();
        Receipt released = key.spend(limit, 1).receipt();
        Receipt renewed = key.spend(limit, 1).receipt();
        block(key, BLOCK);
        backend().release(released).toCompletableFuture().join();
        assertThat(backend().renew(List.of(renewed)).toCompletableFuture().join())
                .isEmpty();
        assertThat(QuotaMicros.blockedFor(key.rejection(limit, 1))).isEqualTo(30_000_000);
        assertThat(block(key, Duration.ofMinutes(10))).isEqualTo(Duration.ofMinutes(10));
        assertThat(QuotaMicros.blockedFor(key.peek(limit))).isEqualTo(600_000_000);
        unblock(key);
        assertThat(key.peek(limit).remaining()).isEqualTo(2);
        backend().release(renewed).toCompletableFuture().join();
        assertThat(key.peek(limit).remaining()).isEqualTo(3);
    }

    @Test
    default void blockIsExtendedAndNeverShortened() {
        Limit limit = limit(Algorithm.FIXED_WINDOW);
        TestKey key = key();
        block(key, BLOCK);
        assertThat(block(key, Duration.ofSeconds(1))).isEqualTo(BLOCK);
        assertThat(QuotaMicros.blockedFor(key.peek(limit))).isEqualTo(30_000_000);
        time().advanceMicros(5_000_000);
        assertThat(block(key, Duration.ofSeconds(27))).isEqualTo(Duration.ofSeconds(27));
        assertThat(QuotaMicros.blockedFor(key.peek(limit))).isEqualTo(27_000_000);
    }

    @Test
    default void aKeyCanBeBlockedAgainAfterItsBlockHasEnded() {
        Limit limit = limit(Algorithm.SLIDING_WINDOW);
        TestKey key = key();
        block(key, BLOCK);
        unblock(key);
        unblock(key);
        key.spend(limit, 1);
        block(key, Duration.ofSeconds(2));
        time().advanceMicros(2_000_000);
        key.spend(limit, 1);
        block(key, Duration.ofNanos(1));
        assertThat(QuotaMicros.blockedFor(key.rejection(limit, 1))).isEqualTo(1);
    }

    @Test
    default void resetEndsTheBlock() {
        Limit limit = limit(Algorithm.FIXED_WINDOW);
        TestKey key = key();
        key.spend(limit, 10);
        block(key, BLOCK);
        key.reset(limit);
        key.spend(limit, 10);
    }

    @Test
    default void blockRemainsWhenTheLimitsChange() {
        TestKey key = key();
        key.spend(limit(Algorithm.FIXED_WINDOW), 1);
        key.spend(limit(Algorithm.TOKEN_BUCKET), 1);
        block(key, BLOCK);
        for (Algorithm algorithm : Algorithm.values()) {
            key.rejection(limit(algorithm), 1);
            key.rejection(limitOf(algorithm, 5, Duration.ofDays(1)), 1);
        }
        Limit calendar = Limit.of(5, new CalendarPeriod(CalendarPeriod.Unit.DAY, ZoneOffset.UTC, 1));
        assertThat(QuotaMicros.blockedFor(key.rejection(calendar, 1))).isEqualTo(30_000_000);
    }

    @Test
    default void blockIsThatOfOnePolicyAndOneKey() {
        Limit limit = limit(Algorithm.SLIDING_WINDOW);
        TestKey key = key();
        block(key, BLOCK);
        key().spend(limit, 1);
        Charge other = new Charge(new PolicyLimits("other", List.of(limit)), key.storedKey(), 1);
        assertThat(backend().acquire(List.of(other)).allowed()).isTrue();
        Decision both = backend().acquire(List.of(other, key.charge(1, limit)));
        assertThat(both.allowed()).isFalse();
        assertThat(both.quotas()).extracting(QuotaMicros::blockedFor).containsExactly(0L, 30_000_000L);
        assertThat(((Decision.Rejected) both).violatedPolicies()).containsExactly("api");
        assertThat(((Decision.Rejected) both).blocked()).isTrue();
        assertThat(backend().peek(other).get(0).remaining()).isEqualTo(9);
    }

    @Test
    default void otherKeyOfTheCallSpendsNothing() {
        Limit limit = limit(Algorithm.TOKEN_BUCKET);
        TestKey key = key();
        TestKey other = key();
        block(key, BLOCK);
        Decision decision = backend().acquire(List.of(other.charge(1, limit), key.charge(1, limit)));
        assertThat(decision.allowed()).isFalse();
        assertThat(other.remaining(limit)).isEqualTo(10);
    }

    @Test
    default void allLimitsOfABlockedPolicyReject() {
        Limit second = Limit.of(Algorithm.SLIDING_LOG, 5, Duration.ofSeconds(1));
        Limit hour = Limit.of(Algorithm.SLIDING_WINDOW, 50, Duration.ofHours(1));
        TestKey key = key();
        Charge charge = key.charge(2, second, hour);
        backend().acquire(List.of(charge));
        block(key, BLOCK);
        Decision decision = backend().acquire(List.of(charge));
        assertThat(decision.allowed()).isFalse();
        assertThat(decision.quotas())
                .allMatch(Quota::rejected)
                .allMatch(quota -> QuotaMicros.blockedFor(quota) == 30_000_000);
    }

    @Test
    default void blockedShadowChargeRejectsNoCallAndSpendsNothing() {
        Limit limit = limit(Algorithm.SLIDING_WINDOW);
        TestKey key = key();
        block(key, BLOCK);
        Charge other = key().charge(1, limit);
        Decision decision =
                backend().acquire(List.of(other, key.charge(1, limit).asShadow()));
        assertThat(decision.allowed()).isTrue();
        assertThat(decision.shadowQuotas()).extracting(Quota::rejected).containsExactly(true);
        unblock(key);
        assertThat(key.remaining(limit)).isEqualTo(10);
    }

    @EachBucket
    default void noCallWaitsForTheEndOfABlockInTheBackend(Algorithm algorithm) {
        Limit limit = Limit.of(algorithm, 10, Duration.ofSeconds(10)).withMaxWait(Duration.ofSeconds(60));
        TestKey key = key();
        block(key, BLOCK);
        assertThat(key.acquireWaiting(limit, 1).allowed()).isFalse();
        assertThat(QuotaMicros.retryAfter(key.peek(limit))).isEqualTo(30_000_000);
    }

    @EachAlgorithm
    default void chargesOfABlockedKeyAreRefundedAndSettled(Algorithm algorithm) {
        Limit limit = limit(algorithm);
        TestKey key = key();
        TestKey twin = key();
        Receipt receipt = key.spend(limit, 4).receipt();
        Receipt settled = key.spend(limit, 2).receipt();
        Receipt ofTwin = twin.spend(limit, 4).receipt();
        Receipt settledOfTwin = twin.spend(limit, 2).receipt();
        block(key, BLOCK);
        for (Receipt each : List.of(settled, settledOfTwin)) {
            backend().settle(each, charge -> true, 3);
        }
        key.rejection(limit, 1);
        backend().refund(receipt);
        backend().refund(ofTwin);
        key.rejection(limit, 1);
        key.refund(limit, 1);
        twin.refund(limit, 1);
        assertThat(QuotaMicros.blockedFor(key.rejection(limit, 1))).isEqualTo(30_000_000);
        unblock(key);
        assertThat(key.peek(limit)).isEqualTo(twin.peek(limit));
    }

    @EachAlgorithm
    default void stateOfTheLimitOutlivesAShortBlock(Algorithm algorithm) {
        Limit limit = limitOf(algorithm, 10, Duration.ofHours(1));
        TestKey key = key();
        key.spend(limit, 10);
        Quota full = key.peek(limit);
        block(key, Duration.ofMillis(1));
        time().advanceMicros(1_000);
        assertThat(QuotaMicros.blockedFor(key.rejection(limit, 1))).isZero();
        assertThat(QuotaMicros.resetAfter(key.peek(limit))).isEqualTo(QuotaMicros.resetAfter(full) - 1_000);
    }

    @Test
    default void longestBlockIsAYear() {
        Limit limit = limit(Algorithm.SLIDING_WINDOW);
        TestKey key = key();
        assertThat(block(key, BlocksKeys.MAX_BLOCK)).isEqualTo(Duration.ofDays(366));
        time().advanceMicros(TimeUnit.DAYS.toMicros(366) - 1);
        assertThat(QuotaMicros.blockedFor(key.rejection(limit, 1))).isEqualTo(1);
        for (Duration invalid : List.of(
                Duration.ZERO, Duration.ofSeconds(-1), Duration.ofDays(366).plusNanos(1))) {
            assertThatThrownBy(() -> block(key, invalid)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** Calls of several threads are allowed until the block returns, and never after it. */
    @Test
    default void noCallIsAllowedAfterTheBlockHasReturned() throws Exception {
        Limit limit = Limit.of(Algorithm.FIXED_WINDOW, 1_000_000, Duration.ofHours(1));
        TestKey key = key();
        key.spend(limit, 1);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<Integer>> callers = IntStream.range(0, 4)
                    .mapToObj(caller -> threads.submit(() -> {
                        int allowed = 0;
                        while (key.acquire(limit, 1).allowed()) {
                            allowed++;
                        }
                        return allowed;
                    }))
                    .toList();
            block(key, BLOCK);
            Quota blocked = key.rejection(limit, 1);
            long allowed = 1;
            for (Future<Integer> caller : callers) {
                allowed += caller.get(30, TimeUnit.SECONDS);
            }
            assertThat(QuotaMicros.blockedFor(blocked)).isEqualTo(30_000_000);
            unblock(key);
            assertThat(key.remaining(limit)).isEqualTo(1_000_000 - allowed);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    default void keysAreBlockedAsynchronously() {
        Limit limit = limit(Algorithm.SLIDING_WINDOW);
        TestKey key = key();
        assertThat(backend()
                        .blockAsync(policyOf(key), key.storedKey(), BLOCK)
                        .toCompletableFuture()
                        .join())
                .isEqualTo(BLOCK);
        key.rejection(limit, 1);
    }
}
