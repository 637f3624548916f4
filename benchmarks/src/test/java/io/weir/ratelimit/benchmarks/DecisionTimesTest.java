// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DecisionTimesTest {
    @Test
    void aPercentileIsTheTimeWithinWhichAPartHasEnded() {
        long[] ascending = LongStream.rangeClosed(1, 200).toArray();

        assertThat(DecisionTimes.percentile(ascending, 0.99)).isEqualTo(198);
        assertThat(DecisionTimes.percentile(ascending, 1)).isEqualTo(200);
        assertThat(DecisionTimes.percentile(ascending, 0)).isEqualTo(1);
    }

    @Test
    void eachCallIsDecidedOnceInOrder() {
        List<Integer> decided = new ArrayList<>();

        DecisionTimes.of(2 * DecisionTimes.BLOCK + 1, number -> number, decided::add);

        assertThat(decided).hasSize(2 * DecisionTimes.BLOCK + 1).isSorted().doesNotHaveDuplicates();
    }
}
