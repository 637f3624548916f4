// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SamplingTest {
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // the clock overflows
    private final AtomicInteger random = new AtomicInteger();
    private final Sampling sampling = new Sampling(nanos::get, bound -> random.getAndIncrement() % bound);

    /** Returns how many of some values at one moment are recorded. */
    private int recorded(int values) {
        int recorded = 0;
        for (int i = 0; i < values; i++) {
            recorded += sampling.next() ? 1 : 0;
        }
        return recorded;
    }

    @Test
    void eachOfAFewValuesIsRecorded() {
        for (int second = 0; second < 10; second++) {
            assertThat(recorded(Sampling.MANY - 1)).isEqualTo(Sampling.MANY - 1);
            nanos.addAndGet(Sampling.SECOND_NANOS);
        }
    }

    @Test
    void ofManyValuesARandomPartIsRecorded() {
        assertThat(recorded(Sampling.MANY)).isEqualTo(Sampling.MANY);
        assertThat(recorded(160_000)).isEqualTo(160_000 / Sampling.PART);
    }

    @Test
    void eachValueIsRecordedAgainAfterALongTimeWithoutManyValues() {
        recorded(Sampling.MANY);
        nanos.addAndGet(Sampling.QUIET_NANOS - 1);
        assertThat(recorded(160)).isEqualTo(10);
        nanos.addAndGet(Sampling.SECOND_NANOS);
        assertThat(recorded(160)).isBetween(145, 160); // the first one is counted if it is chosen
    }

    @Test
    void manyRecordedValuesProlongTheTime() {
        recorded(Sampling.MANY);
        nanos.addAndGet(Sampling.QUIET_NANOS - 1);
        recorded(2 * Sampling.MANY);
        nanos.addAndGet(Sampling.SECOND_NANOS);
        assertThat(recorded(160)).isEqualTo(10);
    }
}
