// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson.script;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RoundTripsTest {
    private final RoundTrips roundTrips = new RoundTrips();

    @Test
    void theNetworkIsUnknownBeforeTheFirstReply() {
        assertThat(roundTrips.shortestNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aShorterTimeCountsAtOnce() {
        roundTrips.add(1, 300);
        roundTrips.add(2, 200);
        roundTrips.add(1, 250);
        assertThat(roundTrips.shortestNanos()).isEqualTo(200);
    }

    @Test
    void aLargeBatchShowsAShorterTimeButNoLongerOne() {
        roundTrips.add(1, 400);
        roundTrips.add(3, 300);
        assertThat(roundTrips.shortestNanos()).isEqualTo(300);
        for (int i = 0; i < 3 * RoundTrips.SMALL_BATCHES; i++) {
            roundTrips.add(64, 900);
        }
        assertThat(roundTrips.shortestNanos()).isEqualTo(300);
    }

    @Test
    void theNextBatchIsSmallAfterManyLargeOnes() {
        for (int i = 0; i < RoundTrips.LARGER_BATCHES; i++) {
            assertThat(roundTrips.maxRequests()).isEqualTo(Integer.MAX_VALUE);
            roundTrips.add(3, 900);
        }
        assertThat(roundTrips.maxRequests()).isEqualTo(2);
        roundTrips.add(2, 500);
        assertThat(roundTrips.maxRequests()).isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void aLongerTimeCountsAfterSomeBatches() {
        roundTrips.add(1, 100);
        for (int i = 0; i < RoundTrips.SMALL_BATCHES; i++) {
            roundTrips.add(1, 500 + i);
        }
        assertThat(roundTrips.shortestNanos())
                .as("one of the batches has the time before")
                .isEqualTo(100);
        for (int i = 0; i < RoundTrips.SMALL_BATCHES; i++) {
            roundTrips.add(1, 500 + i);
        }
        assertThat(roundTrips.shortestNanos()).isEqualTo(500);
    }
}
