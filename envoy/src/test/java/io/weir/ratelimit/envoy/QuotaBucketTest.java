// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.envoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.Limit;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The leases of a bucket: when they end, what they have used, and the demand of the proxy. */
class QuotaBucketTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final QuotaBucket bucket = new QuotaBucket();

    @Test
    void aLeaseEndsAfterTheTimeOfALateReport() {
        bucket.add(Receipt.EMPTY, 10, 5 * SECOND);
        bucket.reported(4, 0, SECOND, 0);
        assertThat(bucket.ended(5 * SECOND + QuotaBucket.GRACE_NANOS - 1)).isEmpty();
        assertThat(bucket.ended(5 * SECOND + QuotaBucket.GRACE_NANOS))
                .containsExactly(new QuotaBucket.Ended(Receipt.EMPTY, 10, 4));
        assertThat(bucket.ended(60 * SECOND)).isEmpty();
    }

    @Test
    void requestsUseTheOldestLeaseFirst() {
        bucket.add(Receipt.EMPTY, 10, SECOND);
        bucket.add(Receipt.EMPTY, 10, 2 * SECOND);
        bucket.reported(12, 3, SECOND, 0);
        assertThat(bucket.ended(60 * SECOND))
                .extracting(QuotaBucket.Ended::used)
                .containsExactly(10L, 2L);
    }

    @Test
    void requestsWithoutALeaseAreADebt() {
        bucket.add(Receipt.EMPTY, 10, SECOND);
        bucket.reported(25, 0, SECOND, 0);
        assertThat(bucket.ended(60 * SECOND))
                .extracting(QuotaBucket.Ended::used)
                .containsExactly(25L);
        bucket.reported(3, 0, SECOND, 0);
        assertThat(bucket.ended(60 * SECOND)).isEmpty();
        bucket.add(Receipt.EMPTY, 10, 2 * SECOND);
        assertThat(bucket.ended(60 * SECOND))
                .extracting(QuotaBucket.Ended::used)
                .containsExactly(3L);
    }

    @Test
    void requestsThatNothingLimitsAreFree() {
        bucket.reported(25, 0, SECOND, 0);
        bucket.exempt();
        bucket.add(Receipt.EMPTY, 10, SECOND);
        assertThat(bucket.ended(60 * SECOND))
                .extracting(QuotaBucket.Ended::used)
                .containsExactly(0L);
    }

    @Test
    void theDemandFollowsTheReports() {
        assertThat(bucket.demand(10 * SECOND)).isPositive();
        bucket.reported(60, 20, 2 * SECOND, 0);
        assertThat(bucket.demand(2 * SECOND)).isEqualTo(100);
        bucket.reported(0, 0, 2 * SECOND, 0);
        assertThat(bucket.demand(2 * SECOND)).isEqualTo(1);
        bucket.reported(-1, Long.MAX_VALUE, 1, 0);
        assertThat(bucket.demand(60 * SECOND)).isPositive();
        bucket.reported(-1, -1, Long.MAX_VALUE, 0);
        assertThat(bucket.demand(60 * SECOND)).isPositive();
    }

    @Test
    void twoAssignmentsInARowDiffer() {
        assertThat(bucket.next()).isNotEqualTo(bucket.next());
    }

    @Test
    void aReportOfAnyNumberIsBounded() {
        bucket.add(Receipt.EMPTY, 10, SECOND);
        bucket.reported(-1, 0, SECOND, 0);
        bucket.reported(Long.MAX_VALUE, 0, SECOND, 0);
        assertThat(bucket.ended(60 * SECOND).get(0).used()).isBetween(Limit.MAX_PERMITS, Limit.MAX_PERMITS + 10);
    }

    @Test
    void aBucketIsIdleAfterTwoIntervalsButNotBeforeTenMinutes() {
        long minute = 60 * SECOND;
        bucket.reported(1, 0, SECOND, minute);
        assertThat(bucket.isIdle(11 * minute - 1)).isFalse();
        assertThat(bucket.isIdle(11 * minute)).isTrue();
        bucket.reported(1, 0, 30 * minute, 11 * minute);
        assertThat(bucket.isIdle(71 * minute - 1)).isFalse();
        assertThat(bucket.isIdle(71 * minute)).isTrue();
        bucket.reported(1, 0, Long.MAX_VALUE, 71 * minute);
        assertThat(bucket.isIdle(Long.MAX_VALUE)).isFalse();
    }
}
