// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.redisson.script.AcquireCodec;
import io.weir.ratelimit.redisson.script.AcquireRequest;
import io.weir.ratelimit.redisson.script.Batch;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The bound on the time for which one batch can block Redis. */
class FullBatchTest {
    private static final PolicyLimits API =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.SLIDING_WINDOW, 100_000, Duration.ofHours(1))));

    private final AcquireRequests requests = AcquireRequests.in("test");

    private AcquireRequest request(long cost) {
        return requests.spend(List.of(new Charge(API, "k.a", cost)));
    }

    @Test
    void boundsTheNumberOfDifferentRequestsOnOneKey() {
        Batch batch = new Batch(request(1));
        int size = 1;
        while (size < 5_000 && batch.add(request(1 + size % 2))) {
            size++;
        }
        assertThat(size).isEqualTo(256);
        assertThat(batch.add(request(2))).as("equal to the last one").isTrue();
    }

    @Test
    void sendsAnyNumberOfEqualRequestsAsOneGroup() {
        Batch batch = new Batch(request(1));
        for (int size = 1; size < 8_192; size++) {
            assertThat(batch.add(request(1))).isTrue();
        }
        assertThat(batch.size()).isEqualTo(8_192);
        assertThat(AcquireCodec.encode(batch, 0)).hasSize(28);
    }

    @Test
    void sendsNoByteForEachFurtherKeyWithTheSameLimit() {
        Batch batch = new Batch(request(1));
        assertThat(AcquireCodec.encode(batch, 0)).hasSize(28);
        for (int key = 1; key < 64; key++) {
            assertThat(batch.add(requests.spend(List.of(new Charge(API, "k." + key, 1)))))
                    .isTrue();
        }
        assertThat(AcquireCodec.encode(batch, 0)).hasSize(28);
    }
}
