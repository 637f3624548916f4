// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.core.limit.LimitState;
import io.weir.ratelimit.redisson.script.RedisTime;
import io.weir.ratelimit.redisson.script.Refund;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GrantTest {
    /** A multiple of a minute. */
    private static final long START = 1_763_638_200_000_000L;

    private static final Limit FIXED = Limit.of(Algorithm.FIXED_WINDOW, 100, Duration.ofMinutes(1));
    private static final Limit SLIDING = Limit.of(Algorithm.SLIDING_WINDOW, 100, Duration.ofSeconds(30));

    /** One permit returns in a tenth of a second. */
    private static final Limit BUCKET = Limit.of(Algorithm.TOKEN_BUCKET, 100, Duration.ofSeconds(10));

    private static final long SECOND = 1_000_000_000;

    private static Charge charge(long cost, Limit... limits) {
        return new Charge(new PolicyLimits("api", List.of(limits)), "k.hot", cost);
    }

    /** Returns a grant of an untouched key. Redis's clock showed the start of a minute, and 2 ms are between the call and its reply. */
    private static Grant grant(long cost, Limit... limits) {
        List<LimitState> states = Stream.of(limits)
                .map(limit -> LimitState.untouched(limit, START).spend(limit, cost, START))
                .toList();
        return new Grant(charge(cost, limits), states, new RedisTime(START, 0, SECOND / 500));
    }

    private static List<Long> costs(List<Refund> refunds) {
        return refunds.stream().map(refund -> refund.charges().get(0).cost()).toList();
    }

    @ParameterizedTest
    @EnumSource(names = {"FIXED_WINDOW", "SLIDING_WINDOW", "TOKEN_BUCKET"})
    void eachPermitIsSpentOnce(Algorithm algorithm) {
        Grant grant = grant(20, Limit.of(algorithm, 100, Duration.ofMinutes(1)));
        assertThat(grant.unspent()).isEqualTo(20);
        assertThat(grant.spend(15, 0)).isEqualTo(5);
        assertThat(grant.spend(6, 0)).isEqualTo(-1);
        assertThat(grant.unspent()).isEqualTo(5);
        assertThat(grant.isExhausted(0)).isFalse();
        assertThat(grant.spend(5, 0)).isZero();
        assertThat(grant.spend(1, 0)).isEqualTo(-1);
        assertThat(grant.isExhausted(0)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(names = {"FIXED_WINDOW", "SLIDING_WINDOW"})
    void noPermitOfAWindowIsSpentAfterItsEndByTheLatestTimeOfRedis(Algorithm algorithm) {
        Grant grant = grant(20, Limit.of(algorithm, 100, Duration.ofMinutes(1)));
        long lastMicrosecond = 60 * SECOND - 1_000;
        assertThat(grant.isExhausted(lastMicrosecond)).isFalse();
        assertThat(grant.spend(1, lastMicrosecond)).isEqualTo(19);
        assertThat(grant.refund(1, lastMicrosecond)).isTrue();
        assertThat(grant.isExhausted(lastMicrosecond + 1)).isTrue();
        assertThat(grant.spend(1, lastMicrosecond + 1)).isEqualTo(-1);
        assertThat(grant.refund(1, lastMicrosecond + 1)).isFalse();
        assertThat(grant.unspent()).isEqualTo(20);
    }

    @Test
    void permitsOfABucketExpireAsTheyReturnToIt() {
        Grant grant = grant(20, BUCKET);
        long oneHasReturned = SECOND / 10;
        assertThat(grant.spend(20, oneHasReturned - 1_000)).isZero();
        assertThat(grant.refund(20, oneHasReturned - 1_000)).isTrue();
        assertThat(grant.spend(20, oneHasReturned)).isEqualTo(-1);
        assertThat(grant.spend(10, oneHasReturned)).isEqualTo(9);
        assertThat(grant.spend(1, 12 * oneHasReturned)).isEqualTo(7);
        assertThat(grant.spend(1, 20 * oneHasReturned - 1_000)).isZero();
        assertThat(grant.refund(1, 20 * oneHasReturned - 1_000)).isTrue();
        assertThat(grant.isExhausted(20 * oneHasReturned - 1_000)).isFalse();
        assertThat(grant.isExhausted(20 * oneHasReturned)).isTrue();
        assertThat(grant.spend(1, 20 * oneHasReturned)).isEqualTo(-1);
        assertThat(grant.refund(1, 20 * oneHasReturned)).isFalse();
    }

    @Test
    void ofSeveralLimitsTheStrictestAllowsToSpend() {
        Limit second = Limit.of(Algorithm.FIXED_WINDOW, 50, Duration.ofSeconds(1));
        Grant grant = grant(20, FIXED, BUCKET, second);
        assertThat(grant.spend(1, SECOND / 2))
                .as("five of 20 have returned to the bucket")
                .isEqualTo(14);
        assertThat(grant.isExhausted(SECOND - 1_000)).isFalse();
        assertThat(grant.isExhausted(SECOND)).isTrue();
    }

    @Test
    void aClosedGrantReturnsItsUnspentPermitsOnce() {
        Grant grant = grant(20, FIXED);
        assertThat(grant.spend(7, 0)).isEqualTo(13);
        List<Refund> refunds = grant.close(SECOND);
        assertThat(costs(refunds)).containsExactly(13L);
        assertThat(refunds.get(0).operation()).isEqualTo(Refund.Operation.BY_RECEIPT);
        assertThat(refunds.get(0).receipt().get(0).states()).isEqualTo(spent(20, FIXED));
        assertThat(grant.close(SECOND)).isEmpty();
        assertThat(grant.unspent()).isZero();
        assertThat(grant.spend(1, 0)).isEqualTo(-1);
        assertThat(grant.refund(1, 0)).isFalse();
        assertThat(grant.isExhausted(0)).isTrue();
    }

    @Test
    void aGrantWithoutUnspentPermitsReturnsNone() {
        Grant grant = grant(20, FIXED, SLIDING);
        assertThat(grant.spend(20, 0)).isZero();
        assertThat(grant.close(0)).isEmpty();
    }

    @Test
    void permitsReturnAsLongAsTheirWindowCountsByTheEarliestTimeOfRedis() {
        long end = 60 * SECOND + SECOND / 500;
        assertThat(costs(grant(20, FIXED).close(end - 1))).containsExactly(20L);
        assertThat(grant(20, FIXED).close(end)).isEmpty();
        long secondEnd = 60 * SECOND + SECOND / 500;
        assertThat(costs(grant(20, SLIDING).close(secondEnd - 1))).containsExactly(20L);
        assertThat(grant(20, SLIDING).close(secondEnd)).isEmpty();
    }

    @Test
    void permitsThatHaveReturnedToABucketAreNotRefunded() {
        assertThat(costs(grant(20, BUCKET).close(0)))
                .as("at the latest time, 2 ms have passed")
                .containsExactly(19L);
        assertThat(costs(grant(20, BUCKET).close(SECOND))).containsExactly(10L);
        assertThat(grant(20, BUCKET).close(2 * SECOND)).isEmpty();
        Grant spent = grant(20, BUCKET);
        assertThat(spent.spend(15, 0)).isEqualTo(5);
        assertThat(costs(spent.close(SECOND))).containsExactly(5L);
    }

    @Test
    void eachLimitReceivesWhatItStillCounts() {
        Grant grant = grant(20, FIXED, BUCKET);
        assertThat(grant.spend(4, SECOND))
                .as("ten of 20 have returned to the bucket")
                .isEqualTo(6);
        List<Refund> refunds = grant.close(SECOND);
        assertThat(costs(refunds)).as("the window counts the ten as well").containsExactly(16L, 6L);
        assertThat(refunds)
                .extracting(refund -> refund.charges().get(0).policy().limits())
                .containsExactly(List.of(FIXED), List.of(BUCKET));
        assertThat(costs(grant(20, FIXED, BUCKET).close(2 * SECOND))).containsExactly(20L);
    }

    @Test
    void aChargeOfTheSameWindowsCanBeRefunded() {
        Grant grant = grant(20, FIXED, SLIDING);
        assertThat(grant.hasWindowsOf(spent(3, FIXED, SLIDING))).isTrue();
        long later = START + 60_000_000;
        List<LimitState> next = Stream.of(FIXED, SLIDING)
                .map(limit -> LimitState.untouched(limit, later).spend(limit, 3, later))
                .toList();
        assertThat(grant.hasWindowsOf(next)).isFalse();
        assertThat(grant.hasWindowsOf(List.of(spent(3, FIXED).get(0), next.get(1))))
                .isFalse();
        assertThat(grant(20, BUCKET).hasWindowsOf(spent(3, BUCKET))).isFalse();
    }

    private static List<LimitState> spent(long cost, Limit... limits) {
        return Stream.of(limits)
                .map(limit -> LimitState.untouched(limit, START).spend(limit, cost, START))
                .toList();
    }

    @Test
    void theReceiptOfACallHasTheStateAfterIt() {
        assertThat(grant(20, FIXED).receiptStates(15)).isEqualTo(spent(20, FIXED));
        assertThat(grant(20, BUCKET).receiptStates(15)).isEqualTo(spent(5, BUCKET));
    }

    @Test
    void theQuotaCountsUnspentPermitsAsRemaining() {
        Grant grant = grant(20, FIXED);
        assertThat(grant.spend(5, 0)).isEqualTo(15);
        Charge call = charge(5, FIXED);
        assertThat(grant.quota(call, 15, SECOND).get(0).quotas().get(0).remaining())
                .isEqualTo(95);
        assertThat(grant.quota(call, 0, SECOND).get(0).quotas().get(0).remaining())
                .isEqualTo(80);
        assertThat(grant.result(call, 15, SECOND).quotas().get(0).remaining()).isEqualTo(95);
    }

    @Test
    void theLeastRemainingPermitsOfAllLimitsAreKnown() {
        Limit large = Limit.of(Algorithm.FIXED_WINDOW, 1_000, Duration.ofHours(1));
        assertThat(grant(20, large, FIXED).remaining(0)).isEqualTo(80);
        assertThat(grant(20, large).remaining(0)).isEqualTo(980);
        assertThat(grant(20, FIXED).remaining(60 * SECOND))
                .as("by the earliest time, the window lasts")
                .isEqualTo(80);
        assertThat(grant(20, FIXED).remaining(60 * SECOND + SECOND / 500)).isEqualTo(100);
    }
}
