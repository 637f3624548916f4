// SPDX-License-Identifier: Apache-2.0
package io.weir.ratelimit.core.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weir.ratelimit.Algorithm;
import io.weir.ratelimit.Decision;
import io.weir.ratelimit.Receipt;
import io.weir.ratelimit.spi.BackendException;
import io.weir.ratelimit.spi.Charge;
import io.weir.ratelimit.spi.Limit;
import io.weir.ratelimit.spi.PolicyLimits;
import io.weir.ratelimit.tck.TestedBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Settlements of buckets whose key was dropped because all permits had returned. */
class SettledBucketTest {
    private static final PolicyLimits POLICY =
            new PolicyLimits("api", List.of(Limit.of(Algorithm.TOKEN_BUCKET, 10, Duration.ofSeconds(10))));

    private final AtomicLong now = new AtomicLong(1_000);
    private final LocalBackend backend = new LocalBackend(1, now::get);

    private Receipt spend(String key, long cost) {
        return ((Decision.Allowed) backend.acquire(List.of(new Charge(POLICY, key, cost)))).receipt();
    }

    private long remaining(String key) {
        return backend.peek(List.of(new Charge(POLICY, key, 1))).get(0).remaining();
    }

    @Test
    void debtTakesThePlaceOfAnUntouchedKey() {
        Receipt receipt = spend("k.first", 1);
        now.addAndGet(2_000_000);
        spend("k.second", 1);
        now.addAndGet(2_000_000);
        backend.settle(receipt, charge -> true, 9).toCompletableFuture().join();
        assertThat(remaining("k.first")).as("10 - (9 - 4)").isEqualTo(5);
        assertThat(backend.size()).isEqualTo(1);
    }

    @Test
    void settlementFailsIfThereIsNoPlaceForTheDebt() {
        Receipt receipt = spend("k.first", 1);
        now.addAndGet(2_000_000);
        spend("k.second", 10);
        assertThatThrownBy(() -> new TestedBackend(backend).settle(receipt, charge -> true, 9))
                .isInstanceOfSatisfying(
                        BackendException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(BackendException.Reason.FULL));
        assertThat(remaining("k.second")).isZero();
        assertThat(backend.settle(receipt, charge -> true, 0)
                        .toCompletableFuture()
                        .join())
                .isEmpty();
    }
}
